// `@stax/codex`: what the adapter for Codex says of itself.
import { adapter, target } from 'entourage:stax/adapter';

export const codex = adapter({
  type: 'codex',
  scoped: true,
  exactFidelity: 'byte-exact',
  features: {
    prompt: 'native',
    persona: 'embedded',
    rules: 'native',
    skills: 'native',
    mcp: 'translated',
    surfaces: 'embedded',
    secrets: 'consumer-only',
    subagents: 'native',
    instructionTree: 'native',
    toolPermissions: 'unsupported',
    modelConfig: 'unsupported',
    exactMode: true,
  },
  targets: [
    target('project', 'AGENTS.md', 'Main instructions'),
    target('project', '.codex/config.toml', 'Codex configuration'),
    target('project', '.agents/skills/', 'Skills directory'),
  ],
  userTargets: [
    target('user', '~/.codex/AGENTS.md', 'User instructions'),
    target('user', '~/.codex/config.toml', 'User Codex configuration'),
    target('user', '$HOME/.agents/skills/', 'User skills directory'),
  ],
});

export default codex;
