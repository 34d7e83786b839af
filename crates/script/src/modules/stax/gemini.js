// `@stax/gemini`: what the adapter for Gemini CLI says of itself.
import { adapter, target } from 'entourage:stax/adapter';

export const gemini = adapter({
  type: 'gemini',
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
    instructionTree: 'native',
    toolPermissions: 'unsupported',
    modelConfig: 'native',
    exactMode: true,
  },
  targets: [
    target('project', 'GEMINI.md', 'Main instructions'),
    target('project', '.gemini/settings.json', 'Gemini settings'),
    target('project', '.gemini/skills/', 'Skills directory'),
    target('project', '.gemini/agents/', 'Subagent definitions'),
  ],
  userTargets: [
    target('user', '~/.gemini/GEMINI.md', 'User instructions'),
    target('user', '~/.gemini/settings.json', 'User settings'),
    target('user', '~/.gemini/skills/', 'User skills directory'),
    target('user', '~/.gemini/agents/', 'User subagent definitions'),
  ],
});

export default gemini;
