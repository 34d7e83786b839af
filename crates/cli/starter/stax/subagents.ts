import { defineSubagents } from "stax";

export default defineSubagents({
  agents: {
    reviewer: {
      description: "Reviews files for mistakes, with the place of each.",
      invocation: "delegate",
      instructions: "./subagents/reviewer.md",
    },
  },
});
