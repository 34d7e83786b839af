// `@standardagents/spec` and `@standardagents/builder`: the functions that definitions are written with.
//
// Each gives back what it was handed, as a plain object, and judges nothing: a wrong value is reported by whoever reads
// the definition, together with its place in the source, which a throw from here would lose.

const same = (definition) => definition;

export const defineAgent = same;
export const definePrompt = same;
export const defineModel = same;
export const defineEffect = same;
export const defineHandler = same;
export const defineController = same;
export const defineVariable = same;
export const defineProvider = same;
export const defineConfig = same;

/** `defineTool({…})`, and the older `defineTool(description, args?, execute, …)`. */
export function defineTool(...parts) {
  if (parts.length === 1) return parts[0];
  const [description, ...rest] = parts;
  if (typeof rest[0] === 'function') {
    const [execute, returns] = rest;
    return { description, args: null, execute, ...(returns === undefined ? {} : { returns }) };
  }
  const [args, execute, returns] = rest;
  return { description, args: args ?? null, execute, ...(returns === undefined ? {} : { returns }) };
}

/** `defineHook({ hook, id, execute })`, and the older `defineHook(hook, execute)`. */
export function defineHook(...parts) {
  if (parts.length === 1) return parts[0];
  const [hook, ...rest] = parts;
  return { hook, ...(typeof rest[0] === 'function' ? { execute: rest[0] } : rest[0]) };
}

/** `defineThreadEndpoint({ execute })`, and `defineThreadEndpoint(handler)`. */
export function defineThreadEndpoint(definition) {
  return typeof definition === 'function' ? { execute: definition } : definition;
}

// What older tools call as functions, newer ones call on the state itself.
export const queueTool = (state, name, args) => state.queueTool(name, args);
export const invokeTool = (state, name, args) => state.invokeTool(name, args);
export const injectMessage = (state, message) => state.injectMessage(message);
export const getMessages = (state, options) => state.getMessages(options);
export const emitThreadEvent = (state, event, data) => state.emit(event, data);
