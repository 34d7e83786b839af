// How schemas with others inside take a value, by their kinds.
(() => {
  'use strict';

  const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

  /** The values that a schema is limited to, looking through what wraps it; `undefined` if it is not limited. */
  const valuesOf = (schema) => {
    const { kind, parts } = schema.resolved?.() ?? schema;
    if (parts.values) return parts.values;
    if (kind === 'null') return [null];
    if (kind === 'undefined') return [undefined];
    if (parts.options) return parts.options.flatMap((option) => valuesOf(option) ?? []);
    const below = parts.inner && valuesOf(parts.inner);
    return below && [...below, ...(parts.allows ?? [])];
  };

  /** The values of the discriminator for which an option is meant. */
  const meantFor = (option, name) => {
    const schema = option.resolved?.() ?? option;
    if (schema.kind === 'choice') return schema.parts.options.flatMap((each) => meantFor(each, name));
    if (schema.kind === 'object') return (schema.shape[name] && valuesOf(schema.shape[name])) ?? [];
    return schema.parts.inner ? meantFor(schema.parts.inner, name) : [];
  };

  return ({ INVALID, NEVER, inTurn, next, put, run }) => {
    /** What both sides of an intersection made of the value; `INVALID` if they disagree. */
    const joined = (left, right) => {
      if (Object.is(left, right)) return left;
      if (left instanceof Date && right instanceof Date && left.getTime() === right.getTime()) return left;
      const lists = Array.isArray(left) && Array.isArray(right) && left.length === right.length;
      if (!lists && !(isObject(left) && isObject(right))) return INVALID;
      const out = lists ? [...left] : { ...left };
      for (const key of Object.keys(right)) {
        const member = Object.hasOwn(left, key) ? joined(left[key], right[key]) : right[key];
        if (member === INVALID) return INVALID;
        put(out, key, member);
      }
      return out;
    };

    const inner = (schema, value, context, path) => run(schema.parts.inner, value, context, path);

    // Members that an object's shape does not name: dropped, kept, refused, or judged by a schema of their own.
    const rest = (schema, value, out, context, path) => {
      const { rest: policy = 'strip', given } = schema.parts;
      if (policy === 'strip') return out;
      const others = Object.keys(value).filter((name) => !Object.hasOwn(schema.shape, name));
      if (policy === 'strict') {
        if (others.length > 0) context.refuse({ code: 'unrecognized_keys', keys: others }, path, value, given);
        return out;
      }
      const step = (index) => {
        const name = others[index];
        const taken = policy === 'loose' ? value[name] : run(policy, value[name], context, [...path, name]);
        return next(taken, (member) => member !== INVALID && put(out, name, member));
      };
      return next(inTurn(others.length, step), () => out);
    };

    // Keys are always text in JavaScript; a schema of numbers means the number that the text spells.
    const recordKey = (key, name, context) => {
      const numeric = key.kind === 'number' && name.trim() !== '' && !Number.isNaN(Number(name));
      return run(key, numeric ? Number(name) : name, context, []);
    };

    /** Takes the items of a list one by one; what is invalid leaves a gap, and an issue. */
    const items = (count, schemaOf, value, context, path) => {
      const out = [];
      const step = (index) =>
        next(run(schemaOf(index), value[index], context, [...path, index]), (taken) => {
          if (taken !== undefined || index < value.length) out[index] = taken === INVALID ? undefined : taken;
        });
      return next(inTurn(count, step), () => out);
    };

    return {
      object(schema, value, context, path) {
        if (!isObject(value)) return context.refuseType(schema, 'object', value, path);
        const { shape } = schema;
        const names = Object.keys(shape);
        const out = {};
        const step = (index) => {
          const name = names[index];
          // What every object inherits, such as `constructor`, was not given; a getter of a class was.
          const given = name in value && (Object.hasOwn(value, name) || !(name in Object.prototype));
          return next(run(shape[name], given ? value[name] : undefined, context, [...path, name]), (taken) => {
            if (taken !== INVALID && (taken !== undefined || given)) put(out, name, taken);
          });
        };
        return next(inTurn(names.length, step), () => rest(schema, value, out, context, path));
      },

      array(schema, value, context, path) {
        if (!Array.isArray(value)) return context.refuseType(schema, 'array', value, path);
        return items(value.length, () => schema.parts.element, value, context, path);
      },

      tuple(schema, value, context, path) {
        if (!Array.isArray(value)) return context.refuseType(schema, 'tuple', value, path);
        const { items: wanted, others, given } = schema.parts;
        const refuse = (issue) => context.refuse({ ...issue, origin: 'array', inclusive: true }, path, value, given);
        if (value.length < schema.least) return refuse({ code: 'too_small', minimum: schema.least });
        if (!others && value.length > wanted.length) return refuse({ code: 'too_big', maximum: wanted.length });
        return items(Math.max(wanted.length, value.length), (index) => wanted[index] ?? others, value, context, path);
      },

      record(schema, value, context, path) {
        if (!isObject(value)) return context.refuseType(schema, 'record', value, path);
        const { key, value: member, partial, given } = schema.parts;
        const out = {};
        const take = (name, to) =>
          next(run(member, value[name], context, [...path, name]), (taken) => {
            if (taken !== INVALID && (taken !== undefined || Object.hasOwn(value, name))) put(out, to, taken);
          });
        const names = key.parts.values?.map(String);
        if (names) {
          const others = Object.keys(value).filter((name) => !names.includes(name));
          if (others.length > 0) context.refuse({ code: 'unrecognized_keys', keys: others }, path, value, given);
          const wanted = partial ? names.filter((name) => Object.hasOwn(value, name)) : names;
          return next(inTurn(wanted.length, (index) => take(wanted[index], wanted[index])), () => out);
        }
        const present = Object.keys(value);
        const step = (index) => {
          const attempt = context.attempt();
          return next(recordKey(key, present[index], attempt), (to) => {
            if (attempt.issues.length === 0) return take(present[index], String(to));
            const issue = { code: 'invalid_key', origin: 'record', issues: attempt.issues };
            context.refuse(issue, [...path, present[index]], value, given);
            return undefined;
          });
        };
        return next(inTurn(present.length, step), () => out);
      },

      map(schema, value, context, path) {
        // JSON has no maps: a model sends the list of pairs that the schema asks for.
        const isPair = (pair) => Array.isArray(pair) && pair.length === 2;
        const map = context.wire && Array.isArray(value) && value.every(isPair) ? new Map(value) : value;
        if (!(map instanceof Map)) return context.refuseType(schema, 'map', value, path);
        const entries = [...map];
        const out = new Map();
        const step = (index) => {
          const [key, held] = entries[index];
          return next(run(schema.parts.key, key, context, [...path, key]), (name) =>
            next(run(schema.parts.value, held, context, [...path, key]), (taken) => {
              if (name !== INVALID && taken !== INVALID) out.set(name, taken);
            }),
          );
        };
        return next(inTurn(entries.length, step), () => out);
      },

      set(schema, value, context, path) {
        const set = context.wire && Array.isArray(value) ? new Set(value) : value;
        if (!(set instanceof Set)) return context.refuseType(schema, 'set', value, path);
        const list = [...set];
        return next(items(list.length, () => schema.parts.element, list, context, path), (taken) => new Set(taken));
      },

      union(schema, value, context, path) {
        const { options, given } = schema.parts;
        const attempts = [];
        let won;
        const step = (index) => {
          if (won !== undefined) return undefined;
          const attempt = context.attempt();
          return next(run(options[index], value, attempt, path), (taken) => {
            attempts.push({ attempt, taken });
            if (attempt.issues.length === 0) won = { taken };
          });
        };
        return next(inTurn(options.length, step), () => {
          if (won) return won.taken;
          // If only one option is of the right type, its faults are what the author wants to read.
          const fitting = attempts.filter(({ attempt, taken }) => attempt.fatal === 0 && taken !== INVALID);
          if (fitting.length === 1) {
            context.adopt(fitting[0].attempt);
            return fitting[0].taken;
          }
          const below = (issue) => ({ ...issue, path: issue.path.slice(path.length) });
          const errors = attempts.map(({ attempt }) => attempt.issues.map(below));
          return context.refuse({ code: 'invalid_union', errors }, path, value, given);
        });
      },

      choice(schema, value, context, path) {
        if (!isObject(value)) return context.refuseType(schema, 'object', value, path);
        const { options, discriminator, given } = schema.parts;
        const found = options.find((option) => meantFor(option, discriminator).includes(value[discriminator]));
        if (found) return run(found, value, context, path);
        const issue = { code: 'invalid_union', errors: [], note: 'No matching discriminator', discriminator };
        return context.refuse(issue, [...path, discriminator], value, given);
      },

      intersection({ parts: { left, right } }, value, context, path) {
        const { fatal } = context;
        return next(run(left, value, context, path), (one) =>
          next(run(right, value, context, path), (other) => {
            if (one === INVALID || other === INVALID) return INVALID;
            const both = joined(one, other);
            if (both !== INVALID || context.fatal > fatal) return both;
            throw new Error(`Both sides of an intersection changed the value at [${path.join('.')}], and not alike`);
          }),
        );
      },

      // An inner default still fills in what is absent.
      optional: (schema, value, context, path) =>
        value === undefined && !schema.parts.inner.mayBeAbsent() ? undefined : inner(schema, value, context, path),

      nullable: (schema, value, context, path) => (value === null ? null : inner(schema, value, context, path)),

      nonoptional(schema, value, context, path) {
        if (value === undefined) return context.refuseType(schema, 'nonoptional', value, path);
        return next(inner(schema, value, context, path), (taken) =>
          taken === undefined ? context.refuseType(schema, 'nonoptional', value, path) : taken,
        );
      },

      default: (schema, value, context, path) =>
        value === undefined ? schema.parts.give() : inner(schema, value, context, path),

      prefault: (schema, value, context, path) =>
        inner(schema, value === undefined ? schema.parts.give() : value, context, path),

      catch(schema, value, context, path) {
        const attempt = context.attempt();
        return next(inner(schema, value, attempt, path), (taken) => {
          if (attempt.issues.length === 0) return taken;
          return schema.parts.give({ error: { issues: attempt.issues }, input: value, value });
        });
      },

      readonly: (schema, value, context, path) =>
        next(inner(schema, value, context, path), (taken) => (taken === INVALID ? taken : Object.freeze(taken))),

      promise(schema, value, context, path) {
        const fits = value instanceof Promise || context.asynchronous;
        if (!fits) return context.refuseType(schema, 'promise', value, path);
        return next(context.given(value), (settled) => inner(schema, settled, context, path));
      },

      transform(schema, value, context, path) {
        const { ear, report } = context.listen(path, value);
        const changed = context.given(schema.parts.change(value, ear));
        return next(changed, (made) => (report() || made === NEVER ? INVALID : made));
      },

      pipe({ parts: { first, second } }, value, context, path) {
        const before = context.issues.length;
        return next(run(first, value, context, path), (taken) => {
          if (taken === INVALID || context.issues.length > before) return INVALID;
          return run(second, taken, context, path);
        });
      },

      lazy: (schema, value, context, path) => run(schema.unwrap(), value, context, path),
    };
  };
})();
