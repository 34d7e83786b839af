// `@stax/windsurf`: what the adapter for Windsurf says of itself.
import { adapter, target } from 'entourage:stax/adapter';

export const windsurf = adapter({
  type: 'windsurf',
  scoped: true,
  exactFidelity: 'byte-exact',
  features: {
    prompt: 'native',
    persona: 'embedded',
    rules: 'translated',
    skills: 'translated',
    mcp: 'translated',
    surfaces: 'embedded',
    secrets: 'consumer-only',
    subagents: 'unsupported',
    instructionTree: 'unsupported',
    toolPermissions: 'unsupported',
    modelConfig: 'unsupported',
    exactMode: true,
  },
  targets: [
    target('project', 'AGENTS.md', 'Instructions'),
    target('project', '.windsurf/rules/', 'Rules'),
    target('project', '.windsurf/workflows/', 'Workflows/skills'),
  ],
  userTargets: [
    target('user', '~/.codeium/windsurf/memories/global_rules.md', 'Global rules'),
    target('user', '~/.codeium/windsurf/global_workflows/', 'Global workflows'),
    target('user', '~/.codeium/windsurf/mcp_config.json', 'MCP configuration'),
  ],
});

export default windsurf;
