import { definePrompt } from '@standardagents/builder';

export default definePrompt({
  name: 'critic',
  toolDescription: 'Judges the draft.',
  model: 'openai:gpt-5',
  prompt: 'You judge drafts. Call `accept` with the whole text once it is right; else say in one sentence what must change.',
  includeChat: true,
  tools: ['accept'],
});
