import { defineAgent } from '@standardagents/builder';

// Two sides face each other: the writer drafts, the critic accepts a draft or says what is wrong with it.
export default defineAgent({
  name: 'editor',
  type: 'dual_ai',
  description: 'Writes a short text and improves it until its critic accepts it.',
  exposeAsTool: true,
  toolDescription: 'Write a short, polished text. Say what it is for and what it must contain.',
  maxSessionTurns: 12,
  sideA: {
    label: 'Writer',
    prompt: 'writer',
  },
  sideB: {
    label: 'Critic',
    prompt: 'critic',
    sessionStop: { name: 'accept', messageProperty: 'text' },
  },
});
