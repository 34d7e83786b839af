// `@stax/opencode`: what the adapter for OpenCode says of itself.
import { adapter, target } from 'entourage:stax/adapter';

export const opencode = adapter({
  type: 'opencode',
  scoped: true,
  exactFidelity: 'byte-exact',
  features: {
    prompt: 'native',
    persona: 'embedded',
    rules: 'embedded',
    skills: 'native',
    mcp: 'translated',
    surfaces: 'embedded',
    secrets: 'consumer-only',
    subagents: 'native',
    instructionTree: 'translated',
    toolPermissions: 'translated',
    modelConfig: 'native',
    exactMode: true,
  },
  targets: [
    target('project', 'AGENTS.md', 'Instructions'),
    target('project', 'opencode.jsonc', 'OpenCode config'),
    target('project', '.opencode/skill/', 'Skills'),
    target('project', '.opencode/command/', 'Commands'),
    target('project', '.opencode/agent/', 'Agent definitions'),
  ],
  userTargets: [
    target('user', '~/.config/opencode/AGENTS.md', 'User instructions'),
    target('user', '~/.config/opencode/opencode.jsonc', 'User config'),
    target('user', '~/.opencode/skill/', 'User skills'),
    target('user', '~/.opencode/command/', 'User commands'),
    target('user', '~/.opencode/agent/', 'User agent definitions'),
  ],
});

export default opencode;
