// `@stax/openclaw`: what the adapter for OpenClaw says of itself.
import { adapter, target } from 'entourage:stax/adapter';

export const openclaw = adapter({
  type: 'openclaw',
  fidelity: 'byte-exact',
  features: {
    prompt: 'native',
    persona: 'native',
    rules: 'native',
    skills: 'native',
    mcp: 'unsupported',
    surfaces: 'native',
    secrets: 'consumer-only',
    subagents: 'unsupported',
    instructionTree: 'unsupported',
    toolPermissions: 'unsupported',
    modelConfig: 'unsupported',
    exactMode: true,
  },
  targets: [
    target('project', 'AGENTS.md', 'Instructions'),
    target('project', 'SOUL.md', 'Persona/soul'),
    target('project', 'TOOLS.md', 'Tool guidance'),
    target('project', 'IDENTITY.md', 'Identity'),
    target('project', 'USER.md', 'User profile'),
    target('project', 'HEARTBEAT.md', 'Heartbeat'),
    target('project', 'BOOTSTRAP.md', 'Bootstrap'),
    target('project', 'skills/', 'Skills'),
    target('project', 'memory/', 'Memory'),
  ],
});

export default openclaw;
