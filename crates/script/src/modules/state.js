// The `ThreadState` that a running tool is handed.
//
// What is constant while the tool runs is read from `facts`; everything else is asked for, one method at a time, through
// `ask(method, arguments)`, which gives a promise of plain JSON and rejects with an `Error`. The other side of `ask`:
//
// facts = {
//   threadId, agentId, userId: string | null, createdAt: microseconds, terminated: microseconds | null,
//   children: [SubagentRegistryEntry], arguments: object | null, context: object, status: string,
//   options: object,                   what the prompt gives to this very tool, by `options` of its entry
//   env: { name: value },              every variable that `env(name)` resolves, in the order of the specification
//   agentNames, promptNames, modelNames: [string]
// }
//
// `queueTool` and only that is asked for through `askNow`, which waits on the spot and throws: the specification has it
// as a plain function, and whoever calls it may catch what it throws.
//
// Each `arguments` is an object. It has a member `thread` (a thread id) when the method was called on another thread's
// state, as `getChildThread` and `getParentThread` give it; without `thread` the tool's own thread is meant.
//
// method           arguments                                        answer
// setEnv           {name, value, type: 'text'|'secret'|null}        null
// getMessages      {limit?, offset?, order?, includeSilent?, …}     {messages: [Message], total, hasMore}
// getMessage       {id}                                             Message | null
// injectMessage    {message: {role, content, …}}                    Message
// updateMessage    {id, updates: object}                            Message
// deleteMessage    {id}                                             boolean, whether there was one
// queueMessage     {message: {role, content, attachments?, silent?, metadata?}}   null
// notifyParent     {content}                                        null; without a parent nothing happens
// setStatus        {status}                                         null
// stopSession      {result: any | null, status: string | null, notifyParent: boolean | null}   null
// getChildThread   {reference}                                      facts | null
// getParentThread  {}                                               facts | null
// getValue         {key}                                            any JSON; null when unset
// setValue         {key, value}                                     null; a null value unsets
// writeFile        {path, text | base64, mimeType: string | null, metadata: object | null}     FileRecord
// readFile         {path, as: 'auto' | 'text' | 'bytes'}            null | {text} | {base64}; 'auto' gives text exactly
//                                                                   when the bytes are valid UTF-8 without NUL
// statFile         {path}                                           FileRecord | null
// readdirFile      {path}                                           [FileRecord]
// unlinkFile       {path}                                           null
// mkdirFile        {path}                                           FileRecord
// rmdirFile        {path}                                           null
// moveFile         {from, to}                                       FileRecord
// findFiles        {pattern, …options}                              [FileRecord]
// grepFiles        {pattern, …options}                              [{path, line, content}]
// getFileStats     {}                                               {files, bytes}
// queueTool        {name, arguments: object}                        null
// invokeTool       {name, arguments: object}                        ToolResult {status, result?, error?, attachments?}
// emit             {event, data}                                    null
// loadAgent, loadPrompt, loadModel   {name}                         the definition | null
// terminate        {}                                               microseconds at which the thread was terminated
//
// FileRecord = {path, name, mimeType, size, isDirectory, createdAt, storage: 'local', metadata?, width?, height?}
// Message = {id, role, content, …}, as the API shows it.

/** The state of the tool's own thread. */
export function makeState(facts, ask, askNow) {
  return stateOf(facts, undefined, { ask, askNow });
}

/**
 * A tool's arguments as its schema makes them: defaults filled in, values transformed. Throws an `Error` that lists the
 * faults, one a line, as `[path] message`. Without a schema that parses they are given back as they came, unless there
 * is a `misfit`: what the JSON Schema of the definition has against them, which is thrown.
 */
export async function prepareArguments(definition, values, misfit) {
  const parse = definition?.args?.[Symbol.for('entourage.parse')];
  if (typeof parse !== 'function') {
    if (typeof misfit === 'string') throw new Error(misfit);
    return values;
  }
  const { success, data, error } = await parse.call(definition.args, values);
  if (success) return data;
  const lines = error.issues.map(({ path, message }) => `[${path.join('.')}] ${message}`);
  throw new Error(`The arguments do not fit the tool's schema:\n${lines.join('\n')}`);
}

// What the specification also names and this runtime has no meaning for. Saying so beats "is not a function".
const notOffered = [
  'getLogs', 'instanceEnv', 'envType', 'getUserValue', 'setUserValue', 'listUserValues', 'user', 'callClient',
  'callClientStream', 'readFileStream', 'getFileThumbnail', 'runAgent', 'scheduleEffect', 'getScheduledEffects',
  'removeScheduledEffect', 'runCode',
];

function stateOf(facts, thread, door) {
  const addressed = (values) => (thread === undefined ? values : { ...values, thread });
  const ask = (method, values = {}) => door.ask(method, addressed(values));
  const another = (found) => {
    if (found === null || found === undefined) return null;
    const other = stateOf(found, found.threadId, door);
    const { terminate } = other;
    other.terminate = async () => {
      await terminate();
      for (const child of state.children) if (child.reference === other.threadId) child.status = 'terminated';
    };
    return other;
  };
  const state = {
    threadId: facts.threadId,
    agentId: facts.agentId,
    userId: facts.userId ?? null,
    createdAt: facts.createdAt,
    children: facts.children ?? [],
    terminated: facts.terminated ?? null,
    arguments: facts.arguments ?? null,
    context: facts.context ?? {},
    options: facts.options ?? {},
    status: facts.status ?? null,
    execution: null,

    getAgentNames: () => facts.agentNames ?? [],
    getPromptNames: () => facts.promptNames ?? [],
    getModelNames: () => facts.modelNames ?? [],
    loadAgent: (name) => ask('loadAgent', { name }),
    loadPrompt: (name) => ask('loadPrompt', { name }),
    loadModel: (name) => ask('loadModel', { name }),

    getChildThread: async (reference) => another(await ask('getChildThread', { reference: String(reference) })),
    getParentThread: async () => another(await ask('getParentThread')),
    notifyParent: (content) => ask('notifyParent', { content }),
    setStatus: (status) => ask('setStatus', { status }),
    stopSession: ({ result = null, status = null, notifyParent = null } = {}) =>
      ask('stopSession', { result, status, notifyParent }),
    async terminate() {
      state.terminated = await ask('terminate');
    },

    getValue: (key) => ask('getValue', { key }),
    setValue: (key, value = null) => ask('setValue', { key, value }),
    invokeTool: (name, values = {}) => ask('invokeTool', { name, arguments: values }),
    queueTool(name, values = {}) {
      door.askNow('queueTool', addressed({ name, arguments: values }));
    },
    emit: (event, data = null) => ask('emit', { event, data }),
    ...variables(facts, ask),
    ...messages(ask),
    ...files(ask),
  };
  for (const name of notOffered) {
    state[name] = () => {
      throw new Error(`\`state.${name}\` is not offered here`);
    };
  }
  return state;
}

function variables(facts, ask) {
  const known = { ...facts.env };
  return {
    // Not a promise, so that both `state.env('X')` and `await state.env('X')` read the value.
    env(name) {
      if (Object.hasOwn(known, name)) return known[name];
      throw new Error(`The variable \`${name}\` is not set for this thread`);
    },
    async setEnv(name, value, { type = null } = {}) {
      await ask('setEnv', { name, value, type });
      known[name] = value;
    },
  };
}

function messages(ask) {
  return {
    // A list that also has the members of the specification's page: `(await getMessages()).messages` is the same list.
    async getMessages(options = {}) {
      const { messages: list, total, hasMore } = await ask('getMessages', { ...options });
      return withMembers(list, { messages: list, total, hasMore });
    },
    getMessage: (id) => ask('getMessage', { id }),
    injectMessage: (message) => ask('injectMessage', { message }),
    updateMessage: (id, updates) => ask('updateMessage', { id, updates }),
    deleteMessage: (id) => ask('deleteMessage', { id }),
    queueMessage: (message) => ask('queueMessage', { message }),
  };
}

function files(ask) {
  const moveFile = (from, to) => ask('moveFile', { from, to });
  return {
    writeFile: async (path, data, mimeType = null, metadata = null) =>
      ask('writeFile', { path, ...contentOf(data), mimeType, metadata }),
    readFile,
    statFile: (path) => ask('statFile', { path }),
    // A list that also has the specification's member: `const { entries } = await readdirFile(path)`.
    async readdirFile(path = '/') {
      const list = await ask('readdirFile', { path });
      return withMembers(list, { entries: list });
    },
    unlinkFile: (path) => ask('unlinkFile', { path }),
    mkdirFile: (path) => ask('mkdirFile', { path }),
    rmdirFile: (path) => ask('rmdirFile', { path }),
    moveFile,
    renameFile: moveFile,
    findFiles: (pattern, options = {}) => ask('findFiles', { pattern, ...options }),
    grepFiles: (pattern, options = {}) =>
      ask('grepFiles', {
        ...(pattern instanceof RegExp ? { pattern: pattern.source, ...(pattern.ignoreCase && { ignoreCase: true }) } : { pattern }),
        ...options,
      }),
    getFileStats: () => ask('getFileStats'),
  };

  /**
   * `null` when there is no such file; a string for text; else the bytes. `encoding` settles it: `'utf8'` (or `'text'`)
   * for a string whatever the bytes are, `'bytes'` for a `Uint8Array`, `'base64'` for their base64 text.
   */
  async function readFile(path, encoding) {
    const wanted = (typeof encoding === 'object' ? encoding?.encoding : encoding) ?? 'auto';
    const as = encodings[wanted];
    if (as === undefined) throw new TypeError(`readFile: unknown encoding \`${wanted}\`; it is utf8, bytes or base64`);
    const found = await ask('readFile', { path, as });
    if (found === null) return null;
    if (found.text !== undefined) return found.text;
    return wanted === 'base64' ? found.base64 : Uint8Array.fromBase64(found.base64);
  }
}

// What `readFile` asks for, for each word that an author may use.
const encodings = {
  auto: 'auto',
  text: 'text',
  utf8: 'text',
  'utf-8': 'text',
  bytes: 'bytes',
  binary: 'bytes',
  base64: 'bytes',
};

/** What a tool may hand to `writeFile`: text, bytes of any kind, or `{ base64 }` (also `{ data, encoding: 'base64' }`). */
function contentOf(data) {
  if (typeof data === 'string') return { text: data.toWellFormed() };
  if (data instanceof ArrayBuffer) return { base64: new Uint8Array(data).toBase64() };
  if (ArrayBuffer.isView(data)) return contentOf(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength));
  if (typeof data?.base64 === 'string') return { base64: data.base64 };
  if (typeof data?.data === 'string' && data.encoding === 'base64') return { base64: data.data };
  throw new TypeError('writeFile takes a string, an ArrayBuffer, a Uint8Array or `{ base64 }`');
}

function withMembers(list, members) {
  for (const [name, value] of Object.entries(members)) {
    Object.defineProperty(list, name, { value, enumerable: false, configurable: true });
  }
  return list;
}
