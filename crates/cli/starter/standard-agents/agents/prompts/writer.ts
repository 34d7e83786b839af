import { definePrompt } from '@standardagents/builder';

export default definePrompt({
  name: 'writer',
  toolDescription: 'Drafts the text.',
  model: 'openai:gpt-5',
  prompt: 'You write. Answer with the whole text and nothing else. When the critic objects, mend what it objects to.',
  includeChat: true,
  tools: ['word_count'],
});
