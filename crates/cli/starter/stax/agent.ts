import { defineAgent } from "stax";
import claudeCode from "@stax/claude-code";

export default defineAgent({
  name: "my-agent",
  version: "0.1.0",
  description: "Leads the work in this project.",
  adapter: claudeCode({}),
  prompt: "./AGENTS.md",
  subagents: "./subagents.ts",
});
