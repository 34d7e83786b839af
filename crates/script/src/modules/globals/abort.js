// `AbortController`, `AbortSignal` and the little of events that they stand on.
(() => {
  'use strict';

  class Event {
    constructor(type) {
      this.type = String(type);
      this.target = null;
      this.defaultPrevented = false;
    }

    preventDefault() {
      this.defaultPrevented = true;
    }
  }

  class EventTarget {
    #listeners = new Map();

    addEventListener(type, listener, options) {
      if (!listener) return;
      const known = this.#listeners.get(type) ?? [];
      if (known.some((entry) => entry.listener === listener)) return;
      known.push({ listener, once: Boolean(options?.once) });
      this.#listeners.set(type, known);
    }

    removeEventListener(type, listener) {
      const known = this.#listeners.get(type) ?? [];
      this.#listeners.set(type, known.filter((entry) => entry.listener !== listener));
    }

    dispatchEvent(event) {
      event.target = this;
      this[`on${event.type}`]?.(event);
      for (const entry of [...(this.#listeners.get(event.type) ?? [])]) {
        if (entry.once) this.removeEventListener(event.type, entry.listener);
        if (typeof entry.listener === 'function') entry.listener.call(this, event);
        else entry.listener.handleEvent(event);
      }
      return !event.defaultPrevented;
    }
  }

  const named = (name, message) => {
    if (typeof DOMException === 'function') return new DOMException(message, name);
    return Object.assign(new Error(message), { name });
  };

  // A signal is aborted only by whoever made it, so the way in is not a method that everybody sees.
  let abort;

  class AbortSignal extends EventTarget {
    #aborted = false;
    #reason;
    onabort = null;

    static {
      abort = (signal, reason) => {
        if (signal.#aborted) return;
        signal.#aborted = true;
        signal.#reason = reason === undefined ? named('AbortError', 'This operation was aborted') : reason;
        signal.dispatchEvent(new Event('abort'));
      };
    }

    get aborted() {
      return this.#aborted;
    }

    get reason() {
      return this.#reason;
    }

    throwIfAborted() {
      if (this.#aborted) throw this.#reason;
    }

    static abort(reason) {
      const signal = new AbortSignal();
      abort(signal, reason);
      return signal;
    }

    static timeout(milliseconds) {
      const signal = new AbortSignal();
      setTimeout(() => abort(signal, named('TimeoutError', 'The operation timed out')), milliseconds);
      return signal;
    }

    static any(signals) {
      const joined = new AbortSignal();
      for (const signal of signals) {
        if (signal.aborted) abort(joined, signal.reason);
        else signal.addEventListener('abort', () => abort(joined, signal.reason), { once: true });
      }
      return joined;
    }
  }

  class AbortController {
    #signal = new AbortSignal();

    get signal() {
      return this.#signal;
    }

    abort(reason) {
      abort(this.#signal, reason);
    }
  }

  return () => ({ AbortController, AbortSignal, Event, EventTarget });
})();
