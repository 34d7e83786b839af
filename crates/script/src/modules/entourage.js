// `entourage`: the definers of Standard Agents and the schema builder, without naming anybody's packages.
//
// It parses the schema builder too; a definition that needs none imports the definers from `@standardagents/spec`.
export { defineAgent, definePrompt, defineTool, defineModel, defineHook } from '@standardagents/spec';
export { z } from 'zod';
