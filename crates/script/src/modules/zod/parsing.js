// The half of `zod` that parses: a script, loaded when somebody first parses. `entourage:zod/type` says why it is apart.
//
// A run goes through `run(schema, value, context, path)`, which gives the value, `INVALID`, or a promise of either where
// a function of the author's is asynchronous. How a schema of each `kind` takes a value stands in `parsing/values` and
// `parsing/containers`; the checks are in `parsing/checks`; words for people in `parsing/words`.
(() => {
  'use strict';

  /** What a kind gives when a value is of no use to anybody further up. */
  const INVALID = Symbol('invalid');

  /** Goes on with a value now, or once it is there: parsing is asynchronous only where the author's functions are. */
  const next = (value, then) => (value instanceof Promise ? value.then(then) : then(value));

  /** Takes the steps one after the other, so that issues keep their order; gives a promise only if some step did. */
  const inTurn = (count, step, from = 0) => {
    for (let index = from; index < count; index += 1) {
      const taken = step(index);
      if (taken instanceof Promise) return taken.then(() => inTurn(count, step, index + 1));
    }
    return undefined;
  };

  /** Sets a member whatever its name: plain assignment to `__proto__` would change the object's kind. */
  const put = (object, key, value) => {
    if (key !== '__proto__') object[key] = value;
    else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  };

  return ({ load, ZodError, NEVER }) => {
    const words = load('entourage:zod/parsing/words')();
    const { defaultMessage } = words;

    /** What authors pass beside a schema or check: a string, `{ message }`, `{ error }`, or zod 3's names. */
    const settingsOf = (given) => {
      if (given === undefined || given === null) return {};
      if (typeof given === 'string' || typeof given === 'function') return { error: given };
      const { message, error, errorMap, invalid_type_error: wrongType, required_error: required, ...rest } = given;
      if (wrongType !== undefined || required !== undefined) {
        return { ...rest, error: (issue) => (issue.input === undefined ? (required ?? wrongType) : wrongType) };
      }
      const defaults = (issue) => ({ data: issue.input, defaultError: defaultMessage(issue, issue.input) });
      const mapped = errorMap && ((issue) => errorMap(issue, defaults(issue)));
      return { ...rest, error: error ?? message ?? mapped };
    };

    const spoken = (error, issue) => {
      const said = typeof error === 'function' ? error(issue) : error;
      return typeof said === 'object' && said !== null ? said.message : said;
    };

    /** One run. A `wire` run reads JSON as a model sends it: dates and big integers come in their JSON form. */
    class Context {
      issues = [];
      /** How many issues leave no usable value behind; refinements are not asked about such a value. */
      fatal = 0;

      constructor({ asynchronous, wire }) {
        this.asynchronous = asynchronous;
        this.wire = wire;
      }

      /** A run of its own, for an attempt that may fail without consequence. */
      attempt() {
        return new Context(this);
      }

      /** Adds an issue; the first of `messages` that has something to say is its message. */
      add(issue, path, input, ...messages) {
        const { message: said, path: below = [], ...rest } = issue;
        const placed = { ...rest, path: [...path, ...below] };
        let message = said;
        for (const given of messages) message ??= spoken(settingsOf(given).error, { ...placed, input });
        this.issues.push({ ...placed, message: message ?? defaultMessage(issue, input) });
      }

      /** Adds an issue that ends the use of the value. */
      refuse(issue, path, input, ...messages) {
        this.fatal += 1;
        this.add(issue, path, input, ...messages);
        return INVALID;
      }

      refuseType(schema, expected, value, path) {
        return this.refuse({ code: 'invalid_type', expected }, path, value, schema.parts.given);
      }

      /** Takes over what an attempt found. */
      adopt(attempt) {
        this.issues.push(...attempt.issues);
        this.fatal += attempt.fatal;
      }

      /** The value that an author's function gave, which may be a promise only in an asynchronous run. */
      given(value) {
        if (value instanceof Promise && !this.asynchronous) {
          value.catch(() => {});
          throw new Error('A refinement or transform is asynchronous: use `parseAsync` or `safeParseAsync`');
        }
        return value;
      }

      /** What an author's function may add issues to, and how they reach the run afterwards. */
      listen(path, value) {
        const heard = [];
        const addIssue = (issue) => void heard.push(typeof issue === 'string' ? { message: issue } : issue);
        const report = () => {
          for (const { input, fatal, continue: goesOn, inst, ...issue } of heard) {
            this.add({ code: 'custom', ...issue }, path, input ?? value);
            if (fatal || goesOn === false) this.fatal += 1;
          }
          return heard.length > 0;
        };
        return { ear: { value, path, issues: heard, addIssue }, report };
      }
    }

    const run = (schema, value, context, path) => {
      const { fatal } = context;
      return next(kinds[schema.kind](schema, value, context, path), (taken) => {
        const { checks } = schema.parts;
        if (taken === INVALID || checks === undefined) return taken;
        let current = taken;
        const step = (index) => {
          const check = checks[index];
          if (check.check === 'change') {
            if (context.fatal === fatal) current = check.value(current);
            return undefined;
          }
          return judge(check, current, { context, path, general: schema.parts.given, spoiled: context.fatal > fatal });
        };
        return next(inTurn(checks.length, step), () => current);
      });
    };

    const tools = { INVALID, NEVER, inTurn, next, put, run, settingsOf };
    const formats = load('entourage:zod/parsing/formats')();
    const judge = load('entourage:zod/parsing/checks')({ ...tools, formats });
    const kinds = { ...load('entourage:zod/parsing/values')(tools), ...load('entourage:zod/parsing/containers')(tools) };

    const outcome = (context, value) =>
      context.issues.length > 0 || value === INVALID
        ? { success: false, error: new ZodError(context.issues) }
        : { success: true, data: value };

    return {
      ...words,
      parse(schema, value) {
        const context = new Context({ asynchronous: false, wire: false });
        return outcome(context, run(schema, value, context, []));
      },
      async parseAsync(schema, value, { wire }) {
        const context = new Context({ asynchronous: true, wire });
        return outcome(context, await run(schema, value, context, []));
      },
      opened({ success, data, error }) {
        if (success) return data;
        throw error;
      },
    };
  };
})();
