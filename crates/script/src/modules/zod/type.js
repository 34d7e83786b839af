// The base of every schema: what it is made of, how it is described, and the way to its parsing.
//
// A definition is read far more often than anything is parsed by it, so the two halves are apart: the modules beside
// this one build and describe schemas, and `entourage:zod/parsing`, which knows each `kind` and each check by name, is
// loaded when somebody first parses. What wraps a schema in another (`optional`, `array`, …) is added to this class by
// `entourage:zod/wrappers`, because those classes stand on it.
import { describeForModel, toJSONSchema } from 'entourage:zod/schema';

const load = globalThis[Symbol.for('entourage.load')];
let loaded;

/** The half that parses. */
export function parsing() {
  loaded ??= load('entourage:zod/parsing')({ load, ZodError, NEVER });
  return loaded;
}

/** `z.NEVER`: what a transform returns after it has added an issue. */
export const NEVER = Object.freeze({ status: 'aborted' });

export class ZodError extends Error {
  constructor(issues = []) {
    super();
    this.name = 'ZodError';
    this.issues = issues;
    Object.defineProperty(this, 'message', { get: () => parsing().asText(this.issues), configurable: true });
  }

  static create(issues) {
    return new ZodError(issues);
  }

  get errors() {
    return this.issues;
  }

  get isEmpty() {
    return this.issues.length === 0;
  }

  addIssue(issue) {
    this.issues.push(issue);
  }

  addIssues(issues) {
    this.issues.push(...issues);
  }

  format(mapper) {
    return parsing().formatError(this, mapper);
  }

  flatten(mapper) {
    return parsing().flattenError(this, mapper);
  }

  toString() {
    return this.message;
  }
}

export class ZodType {
  /** `parts` is everything that makes this schema; a changed schema is a new one with other parts. */
  constructor(parts = {}) {
    this.parts = parts;
  }

  /** The JSON Schema of what goes in, without checks and description. `write` gives that of another schema. */
  outline() {
    return {};
  }

  /** Whether an object may leave such a member out. */
  mayBeAbsent() {
    return false;
  }

  with(changes) {
    return new this.constructor({ ...this.parts, ...changes });
  }

  clone() {
    return this.with({});
  }

  withCheck(check) {
    return this.with({ checks: [...(this.parts.checks ?? []), check] });
  }

  /** A built-in check by its name. `json` is its part of the JSON Schema, `given` the author's message. */
  checked(check, value, json, given) {
    return this.withCheck({ check, value, json, given });
  }

  refine(test, given) {
    return this.withCheck({ check: 'refine', value: test, given });
  }

  superRefine(visit) {
    return this.withCheck({ check: 'visit', value: visit });
  }

  /** Checks in zod 4's own form: functions that are handed `{ value, issues }`. */
  check(...visits) {
    return visits.reduce((schema, visit) => schema.superRefine((_, ear) => visit(ear)), this);
  }

  overwrite(change) {
    return this.withCheck({ check: 'change', value: change });
  }

  parse(value) {
    return parsing().opened(this.safeParse(value));
  }

  safeParse(value) {
    return parsing().parse(this, value);
  }

  async parseAsync(value) {
    return parsing().opened(await this.safeParseAsync(value));
  }

  async safeParseAsync(value) {
    return parsing().parseAsync(this, value, { wire: false });
  }

  spa(value) {
    return this.safeParseAsync(value);
  }

  // What a model sent: JSON, in which dates and big integers have forms of their own.
  async [Symbol.for('entourage.parse')](value) {
    return parsing().parseAsync(this, value, { wire: true });
  }

  [Symbol.for('entourage.schema')]() {
    return describeForModel(this);
  }

  toJSONSchema() {
    return toJSONSchema(this);
  }

  /** Standard Schema, by which other libraries read a schema that they do not know. */
  get '~standard'() {
    const validate = async (value) => {
      const { data, error } = await this.safeParseAsync(value);
      return error ? { issues: error.issues } : { value: data };
    };
    return { version: 1, vendor: 'entourage', validate };
  }

  describe(description) {
    return this.meta({ description });
  }

  meta(...given) {
    if (given.length === 0) return this.parts.meta;
    return this.with({ meta: { ...this.parts.meta, ...given[0] } });
  }

  register(registry, meta) {
    registry.add(this, meta);
    return this;
  }

  get description() {
    return this.parts.meta?.description;
  }

  isOptional() {
    return this.safeParse(undefined).success;
  }

  isNullable() {
    return this.safeParse(null).success;
  }

  brand() {
    return this;
  }
}

// By its kind the other half knows how a schema parses; this one takes everything.
ZodType.prototype.kind = 'any';

/** The parts that every factory takes from its last argument: a custom message, and zod 3's `description`. */
export function partsOf(given) {
  const description = given?.description;
  return { given, ...(description === undefined ? {} : { meta: { description } }) };
}

/** Sets a member whatever its name: plain assignment to `__proto__` would change the object's kind. */
export function put(object, key, value) {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

/** Schemas with a size or an order: the methods that say so. `keys` are JSON Schema's words for least and most. */
export class Limited extends ZodType {
  atLeast(limit, inclusive, given, exact) {
    const [least, above] = this.keys;
    const json = this.told({ [inclusive ? least : above]: limit });
    return this.checked('least', { limit, inclusive, exact }, json, given);
  }

  atMost(limit, inclusive, given, exact) {
    const [, , most, below] = this.keys;
    const json = this.told({ [inclusive ? most : below]: limit });
    return this.checked('most', { limit, inclusive, exact }, json, given);
  }

  /** The limits as JSON Schema takes them. */
  told(json) {
    return json;
  }

  min(limit, given) {
    return this.atLeast(limit, true, given);
  }

  max(limit, given) {
    return this.atMost(limit, true, given);
  }

  exactly(limit, given) {
    return this.atLeast(limit, true, given, true).atMost(limit, true, given, true);
  }

  nonempty(given) {
    return this.min(1, given);
  }
}
