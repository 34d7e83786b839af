// `structuredClone` for what definitions and tools hold: plain values, dates, collections, bytes and errors.
(() => {
  'use strict';

  const refuse = (value) => {
    const kind = typeof value === 'object' ? Object.prototype.toString.call(value) : typeof value;
    throw new TypeError(`structuredClone: ${kind} cannot be cloned`);
  };

  const copyBytes = (value) => {
    if (value instanceof ArrayBuffer) return value.slice(0);
    const buffer = value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength);
    return new value.constructor(buffer);
  };

  const copyError = (value, clone) => {
    const known = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
    const copy = new (known[value.name] ?? Error)(value.message);
    if ('cause' in value) copy.cause = clone(value.cause);
    return copy;
  };

  const structuredClone = (root) => {
    const seen = new Map();
    const remember = (value, copy) => {
      seen.set(value, copy);
      return copy;
    };
    const clone = (value) => {
      if (typeof value === 'symbol' || typeof value === 'function') return refuse(value);
      if (typeof value !== 'object' || value === null) return value;
      if (seen.has(value)) return seen.get(value);
      if (value instanceof Date) return remember(value, new Date(value.getTime()));
      if (value instanceof RegExp) return remember(value, new RegExp(value.source, value.flags));
      if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return remember(value, copyBytes(value));
      if (value instanceof Error) return remember(value, copyError(value, clone));
      if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet) return refuse(value);
      if (value instanceof Map) {
        const copy = remember(value, new Map());
        for (const [key, item] of value) copy.set(clone(key), clone(item));
        return copy;
      }
      if (value instanceof Set) {
        const copy = remember(value, new Set());
        for (const item of value) copy.add(clone(item));
        return copy;
      }
      const copy = remember(value, Array.isArray(value) ? new Array(value.length) : {});
      for (const key of Object.keys(value)) copy[key] = clone(value[key]);
      return copy;
    };
    return clone(root);
  };

  return () => ({ structuredClone });
})();
