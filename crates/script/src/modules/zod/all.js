// Everything that `z` has, under the names that authors know.
import { ZodBigInt, ZodNumber } from 'entourage:zod/number';
import { ZodBoolean, ZodDate } from 'entourage:zod/plain';
import { ZodString } from 'entourage:zod/string';
import { ZodType, parsing, partsOf } from 'entourage:zod/type';
import { ZodPipe } from 'entourage:zod/wrappers';

export { NEVER, ZodError, ZodError as ZodRealError, ZodType } from 'entourage:zod/type';
export { toJSONSchema } from 'entourage:zod/schema';
export * from 'entourage:zod/string';
export * from 'entourage:zod/number';
export {
  ZodAny, ZodBoolean, ZodCustom, ZodDate, ZodEnum, ZodEnum as ZodNativeEnum, ZodLiteral, ZodNever, ZodNull, ZodSymbol,
  ZodUndefined, ZodUnknown, ZodVoid, absent as undefined, any, boolean, custom, date, empty as void, enumeration as enum,
  instance as instanceof, json, literal, nativeEnum, never, nothing as null, symbol, unknown,
} from 'entourage:zod/plain';
export * from 'entourage:zod/object';
export * from 'entourage:zod/collections';
export * from 'entourage:zod/unions';
export {
  ZodCatch, ZodDefault, ZodLazy, ZodNonOptional, ZodNullable, ZodOptional, ZodPipe, ZodPrefault, ZodPromise, ZodReadonly,
  ZodTransform, codec, lazy, nonoptional, nullable, nullish, optional, pipe, prefault, preprocess, promise, readonly,
  transform, withCatch as catch, withDefault as _default,
} from 'entourage:zod/wrappers';

// Zod 3's names.
export { ZodType as ZodSchema, ZodType as Schema, ZodPipe as ZodPipeline, ZodPipe as ZodEffects };

const coercing = (Kind) => (given) => new Kind({ ...partsOf(given), coerce: true });
export const coerce = Object.freeze({
  string: coercing(ZodString),
  number: coercing(ZodNumber),
  boolean: coercing(ZodBoolean),
  bigint: coercing(ZodBigInt),
  date: coercing(ZodDate),
});

export const parse = (schema, value) => schema.parse(value);
export const safeParse = (schema, value) => schema.safeParse(value);
export const parseAsync = (schema, value) => schema.parseAsync(value);
export const safeParseAsync = (schema, value) => schema.safeParseAsync(value);

export const flattenError = (error, mapper) => parsing().flattenError(error, mapper);
export const formatError = (error, mapper) => parsing().formatError(error, mapper);
export const treeifyError = (error, mapper) => parsing().treeifyError(error, mapper);
export const prettifyError = (error) => parsing().prettifyError(error);

/** The codes that authors name when they add issues of their own: those of zod 4, then those that only zod 3 had. */
const codes = [
  'invalid_type', 'too_big', 'too_small', 'invalid_format', 'not_multiple_of', 'unrecognized_keys', 'invalid_union',
  'invalid_key', 'invalid_element', 'invalid_value', 'custom', 'invalid_string', 'invalid_enum_value', 'invalid_literal',
  'invalid_union_discriminator', 'invalid_date', 'invalid_intersection_types', 'not_finite',
];
export const ZodIssueCode = Object.freeze(Object.fromEntries(codes.map((code) => [code, code])));

/** What is known about schemas besides themselves. The global one is where `toJSONSchema` looks. */
class Registry {
  #known = new Map();

  add(schema, meta) {
    this.#known.set(schema, meta);
    return this;
  }

  get(schema) {
    return this.#known.get(schema);
  }

  has(schema) {
    return this.#known.has(schema);
  }

  remove(schema) {
    this.#known.delete(schema);
    return this;
  }
}

class GlobalRegistry extends Registry {
  add(schema, meta) {
    schema.parts = { ...schema.parts, meta: { ...schema.parts.meta, ...meta } };
    return this;
  }

  get(schema) {
    return schema.parts.meta;
  }

  has(schema) {
    return schema.parts.meta !== undefined;
  }
}

export const registry = () => new Registry();
export const globalRegistry = new GlobalRegistry();

// What has no meaning in a sandbox, or none for a model. Saying so beats "is not a function".
const refused = (name, why) => () => {
  throw new Error(`\`z.${name}\` does not exist here: ${why}`);
};
export const file = refused('file', 'a model cannot send a file; take a path or an attachment as `z.string()`');
const callable = refused('function', 'a model cannot send a function');
export { callable as function };
export const templateLiteral = refused('templateLiteral', 'write the pattern as `z.string().regex(…)`');
