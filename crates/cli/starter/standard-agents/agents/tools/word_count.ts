import { defineTool } from '@standardagents/builder';
import { z } from 'zod';

export default defineTool({
  description: 'Count the words of a text.',
  args: z.object({ text: z.string() }),
  execute: async (_state, { text }) => ({
    status: 'success',
    result: String(text.split(/\s+/).filter(Boolean).length),
  }),
});
