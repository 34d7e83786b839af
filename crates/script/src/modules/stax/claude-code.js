// `@stax/claude-code`: what the adapter for Claude Code says of itself.
import { adapter, target } from 'entourage:stax/adapter';

export const claudeCode = adapter({
  type: 'claude-code',
  scoped: true,
  exactFidelity: 'byte-exact',
  ignored: ['instructionsFile'],
  features: {
    prompt: 'native',
    persona: 'embedded',
    rules: 'native',
    skills: 'native',
    mcp: 'native',
    surfaces: 'embedded',
    secrets: 'consumer-only',
    subagents: 'native',
    instructionTree: 'native',
    toolPermissions: 'native',
    modelConfig: 'native',
    exactMode: true,
  },
  targets: [
    target('project', 'CLAUDE.md', 'Main instructions'),
    target('project', '.claude/skills/', 'Skills directory'),
    target('project', '.mcp.json', 'MCP configuration'),
    target('project', '.claude/settings.json', 'Claude settings'),
    target('project', '.claude/agents/', 'Subagent definitions'),
  ],
  userTargets: [
    target('user', '~/.claude/CLAUDE.md', 'User instructions'),
    target('user', '~/.claude/skills/', 'User skills directory'),
    target('user', '~/.claude/settings.json', 'User settings'),
    target('user', '~/.claude.json', 'User MCP configuration'),
    target('user', '~/.claude/agents/', 'User subagent definitions'),
  ],
});

export default claudeCode;
