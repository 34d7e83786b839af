// The globals that authors of TypeScript expect beyond the language itself. A script, run before anything else: it takes
// the host's functions off `globalThis`, so that nobody else calls them, and keeps what is rare out of the way until
// somebody touches it.
(() => {
  'use strict';

  const { __entourage_load: load, __entourage_log: log, __entourage_random: random } = globalThis;
  delete globalThis.__entourage_load;
  delete globalThis.__entourage_log;
  delete globalThis.__entourage_random;

  // Our own modules load what they need late. It reaches nothing but scripts of ours, so it may be found by its symbol.
  Object.defineProperty(globalThis, Symbol.for('entourage.load'), { value: load });

  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });

  // Each script gives a function that takes the host's functions and gives an object of globals.
  const lazily = (script, ...names) => {
    for (const name of names) {
      if (name in globalThis) continue;
      Object.defineProperty(globalThis, name, {
        configurable: true,
        enumerable: false,
        get() {
          const made = load(`entourage:globals/${script}`)({ random });
          for (const sibling of names) if (sibling in made) define(sibling, made[sibling]);
          return made[name];
        },
        set(value) {
          define(name, value);
        },
      });
    }
  };

  lazily('text', 'TextEncoder', 'TextDecoder');
  lazily('clone', 'structuredClone');
  lazily('crypto', 'crypto');
  lazily('url', 'URL', 'URLSearchParams');
  lazily('abort', 'AbortController', 'AbortSignal', 'Event', 'EventTarget');

  // Where a value was thrown that is no error, and where an `import()` was asked for: the code that is compiled here
  // calls the mark around both, and whoever reports the fault asks where. Only the last few are of use to anybody.
  const { Error, Map } = globalThis;
  const marks = new Map();
  const mark = (value, line, column) => {
    if (value instanceof Error) return value;
    marks.delete(value);
    if (marks.size === 64) marks.delete(marks.keys().next().value);
    marks.set(value, [line, column, new Error().stack]);
    return value;
  };
  Object.defineProperty(globalThis, '__entourage_mark__', { value: mark });
  Object.defineProperty(globalThis, Symbol.for('entourage.where'), { value: (value) => marks.get(value) });

  const absent = (name, why) => {
    if (name in globalThis) return;
    define(name, () => {
      throw new Error(`\`${name}\` does not exist here: ${why}`);
    });
  };
  const noTimer = 'a definition is read in one go, and timers exist only while a tool runs';
  absent('setTimeout', noTimer);
  absent('clearTimeout', noTimer);
  absent('setInterval', 'use `setTimeout` inside a tool, which ends with its call');
  absent('clearInterval', 'there is no `setInterval`');
  absent('setImmediate', 'use `queueMicrotask`');
  absent('fetch', 'code in this sandbox has no network; declare an MCP server for that');
  absent('require', 'modules are imported with `import`');
  absent('queueMicrotask', 'use `Promise.resolve().then(…)`');

  const word = (value) => {
    if (typeof value === 'string') return value;
    if (value instanceof Error) return `${value}\n${value.stack ?? ''}`.trimEnd();
    try {
      return JSON.stringify(value) ?? String(value);
    } catch {
      return String(value);
    }
  };
  const say = (level) => (...values) => log?.(level, values.map(word).join(' '));
  define('console', {
    log: say('debug'),
    debug: say('debug'),
    trace: say('debug'),
    dir: say('debug'),
    table: say('debug'),
    info: say('info'),
    warn: say('warn'),
    error: say('error'),
    assert: (held, ...values) => held || say('error')('Assertion failed:', ...values),
    group: say('debug'),
    groupEnd() {},
    time() {},
    timeEnd() {},
    count() {},
  });
})();
