import { defineTool } from '@standardagents/builder';
import { z } from 'zod';

export default defineTool({
  description: 'Accept the draft as it is.',
  args: z.object({ text: z.string().describe('The whole accepted text.') }),
  execute: async () => ({ status: 'success', result: 'Accepted.' }),
});
