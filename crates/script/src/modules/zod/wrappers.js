// Schemas around a schema, described, and the methods by which every schema gets them.
import { array } from 'entourage:zod/collections';
import { asJson, orNull } from 'entourage:zod/schema';
import { ZodType, partsOf } from 'entourage:zod/type';
import { intersection, union } from 'entourage:zod/unions';

/** A schema that passes on to an inner one everything that it does not change. */
class Wrapper extends ZodType {
  outline(write) {
    return write(this.parts.inner);
  }

  mayBeAbsent() {
    return this.parts.inner.mayBeAbsent();
  }

  unwrap() {
    return this.parts.inner;
  }

  get description() {
    return this.parts.meta?.description ?? this.parts.inner.description;
  }
}

export class ZodOptional extends Wrapper {
  mayBeAbsent() {
    return true;
  }
}
ZodOptional.prototype.kind = 'optional';

export class ZodNullable extends Wrapper {
  outline(write) {
    return orNull(write(this.parts.inner));
  }
}
ZodNullable.prototype.kind = 'nullable';

export class ZodNonOptional extends Wrapper {
  mayBeAbsent() {
    return false;
  }
}
ZodNonOptional.prototype.kind = 'nonoptional';

/** A value that stands in for another: `give` makes it anew each time, `fixed` is what a model may be told about it. */
class Standing extends Wrapper {
  outline(write) {
    const body = write(this.parts.inner);
    const known = asJson(this.parts.fixed);
    return known === undefined ? body : { ...body, default: known };
  }

  mayBeAbsent() {
    return true;
  }
}

export class ZodDefault extends Standing {
  removeDefault() {
    return this.parts.inner;
  }
}
ZodDefault.prototype.kind = 'default';

export class ZodPrefault extends Standing {}
ZodPrefault.prototype.kind = 'prefault';

export class ZodCatch extends Standing {
  removeCatch() {
    return this.parts.inner;
  }
}
ZodCatch.prototype.kind = 'catch';

export class ZodReadonly extends Wrapper {}
ZodReadonly.prototype.kind = 'readonly';

export class ZodPromise extends Wrapper {}
ZodPromise.prototype.kind = 'promise';

/** A function of the author's, as one half of a pipe. */
export class ZodTransform extends ZodType {}
ZodTransform.prototype.kind = 'transform';

/** One schema after the other. What goes in is the first one's matter, unless that is only a function. */
export class ZodPipe extends ZodType {
  get in() {
    return this.parts.first;
  }

  get out() {
    return this.parts.second;
  }

  innerType() {
    return this.parts.first.kind === 'transform' ? this.parts.second : this.parts.first;
  }

  outline(write) {
    return write(this.innerType());
  }

  mayBeAbsent() {
    return this.innerType().mayBeAbsent();
  }

  get description() {
    return this.parts.meta?.description ?? this.innerType().description;
  }
}
ZodPipe.prototype.kind = 'pipe';

// A function that makes a schema makes it once, however many `z.lazy` stand around it: otherwise one that calls itself
// would never come to an end.
const madeBy = new WeakMap();

export class ZodLazy extends ZodType {
  unwrap() {
    const { getter } = this.parts;
    if (!madeBy.has(getter)) madeBy.set(getter, getter());
    return madeBy.get(getter);
  }

  get schema() {
    return this.unwrap();
  }

  /** What it stands for. With a description of its own it is not looked through. */
  resolved() {
    const made = this.unwrap();
    return this.parts.meta ? undefined : (made.resolved?.() ?? made);
  }

  outline(write) {
    return write(this.unwrap());
  }

  mayBeAbsent() {
    return this.unwrap().mayBeAbsent();
  }
}
ZodLazy.prototype.kind = 'lazy';

const copied = (value) => {
  if (Array.isArray(value)) return [...value];
  const plain = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return plain ? { ...value } : value;
};

/** The parts of a value that stands in: a function's result is not known before it is asked, so it is not told. */
const standing = (inner, value) =>
  typeof value === 'function' ? { inner, give: value } : { inner, give: () => copied(value), fixed: value };

export const optional = (inner) => new ZodOptional({ inner, allows: [undefined] });
export const nullable = (inner) => new ZodNullable({ inner, allows: [null] });
export const nullish = (inner) => optional(nullable(inner));
export const nonoptional = (inner, given) => new ZodNonOptional({ ...partsOf(given), inner });
export const withDefault = (inner, value) => new ZodDefault(standing(inner, value));
export const prefault = (inner, value) => new ZodPrefault(standing(inner, value));
export const withCatch = (inner, value) => new ZodCatch(standing(inner, value));
export const readonly = (inner) => new ZodReadonly({ inner });
export const promise = (inner) => new ZodPromise({ inner });
export const transform = (change) => new ZodTransform({ change });
export const pipe = (first, second) => new ZodPipe({ first, second });
export const preprocess = (change, schema) => pipe(transform(change), schema);
export const codec = (first, second, { decode }) => pipe(pipe(first, transform(decode)), second);
export const lazy = (getter) => new ZodLazy({ getter });

const methods = {
  optional,
  exactOptional: optional,
  nullable,
  nullish,
  nonoptional,
  default: withDefault,
  prefault,
  catch: withCatch,
  readonly,
  promise,
  array,
  and: intersection,
  or: (schema, other) => union([schema, other]),
  transform: (schema, change) => pipe(schema, transform(change)),
  pipe,
};
for (const [name, make] of Object.entries(methods)) {
  Object.defineProperty(ZodType.prototype, name, {
    value(...given) {
      return make(this, ...given);
    },
  });
}
