// `@stax/cursor`: what the adapter for Cursor says of itself.
import { adapter, target } from 'entourage:stax/adapter';

export const cursor = adapter({
  type: 'cursor',
  ignored: ['writeRules', 'writeMcp', 'writeSkills'],
  features: {
    prompt: 'native',
    persona: 'embedded',
    rules: 'translated',
    skills: 'native',
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
    target('project', '.cursor/rules/', 'Rules'),
    target('project', '.cursor/mcp.json', 'MCP config'),
    target('project', '.cursor/skills/', 'Skills'),
  ],
});

export default cursor;
