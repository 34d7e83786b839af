// `@stax/github-copilot`: what the adapter for GitHub Copilot says of itself.
import { adapter, target } from 'entourage:stax/adapter';

export const githubCopilot = adapter({
  type: 'github-copilot',
  features: {
    prompt: 'native',
    persona: 'embedded',
    rules: 'translated',
    skills: 'native',
    mcp: 'translated',
    surfaces: 'embedded',
    secrets: 'consumer-only',
    subagents: 'native',
    instructionTree: 'native',
    toolPermissions: 'unsupported',
    modelConfig: 'native',
    exactMode: true,
  },
  targets: [
    target('workspace', '.github/copilot-instructions.md', 'Repo-wide instructions'),
    target('workspace', '.github/instructions/', 'Path-scoped instructions'),
    target('workspace', '.vscode/mcp.json', 'MCP config'),
    target('workspace', '.github/skills/', 'Skills'),
    target('workspace', 'AGENTS.md', 'Root instructions'),
    target('workspace', '.github/agents/', 'Agent definitions'),
  ],
});

export default githubCopilot;
