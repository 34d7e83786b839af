// Objects, described and derived from one another.
import { enumeration, ZodUndefined } from 'entourage:zod/plain';
import { ZodType, partsOf, put } from 'entourage:zod/type';

// A shape may have getters, by which a schema refers to itself. They are asked only when the shape is first used, and
// copied as getters, so that a derived object can refer to what is not there yet either.
const copyShape = (...shapes) => {
  const copy = {};
  for (const shape of shapes) Object.defineProperties(copy, Object.getOwnPropertyDescriptors(shape));
  return copy;
};

const members = (given) => (given instanceof ZodObject ? given.parts.shape : given);

/** A shape whose members are changed, one by one, when they are asked for. */
const changed = (shape, names, change) => {
  const copy = {};
  for (const name of Object.keys(shape)) {
    if (!names(name)) Object.defineProperty(copy, name, Object.getOwnPropertyDescriptor(shape, name));
    else Object.defineProperty(copy, name, { get: () => change(shape[name]), enumerable: true, configurable: true });
  }
  return copy;
};

const masked = (mask) => (mask === undefined ? () => true : (name) => Boolean(mask[name]));

export class ZodObject extends ZodType {
  #members;

  /** The members, each asked for once: a getter that makes a new schema each time would have no end. */
  get shape() {
    if (this.#members === undefined) {
      const { shape } = this.parts;
      this.#members = {};
      for (const name of Object.keys(shape)) {
        const member = shape[name];
        if (!(member instanceof ZodType)) throw new TypeError(`\`${name}\` in \`z.object\` is not a schema`);
        put(this.#members, name, member);
      }
    }
    return this.#members;
  }

  outline(write) {
    const properties = {};
    const required = [];
    for (const [name, schema] of Object.entries(this.shape)) {
      if (schema instanceof ZodUndefined) continue;
      put(properties, name, write(schema));
      if (!schema.mayBeAbsent()) required.push(name);
    }
    const { rest = 'strip' } = this.parts;
    const further = { strip: {}, strict: { additionalProperties: false }, loose: { additionalProperties: {} } };
    return {
      type: 'object',
      properties,
      ...(required.length > 0 ? { required } : {}),
      ...(further[rest] ?? { additionalProperties: write(rest) }),
    };
  }

  // Refinements were written for the object as it was, so a derived one starts without them.
  derived(shape, changes = {}) {
    return this.with({ shape, checks: undefined, ...changes });
  }

  extend(more) {
    return this.derived(copyShape(this.parts.shape, members(more)));
  }

  safeExtend(more) {
    return this.extend(more);
  }

  augment(more) {
    return this.extend(more);
  }

  setKey(name, schema) {
    return this.extend({ [name]: schema });
  }

  merge(other) {
    return this.derived(copyShape(this.parts.shape, other.parts.shape), { rest: other.parts.rest });
  }

  pick(mask) {
    const kept = copyShape(this.parts.shape);
    for (const name of Object.keys(kept)) if (!mask[name]) delete kept[name];
    return this.derived(kept);
  }

  omit(mask) {
    const kept = copyShape(this.parts.shape);
    for (const name of Object.keys(kept)) if (mask[name]) delete kept[name];
    return this.derived(kept);
  }

  partial(mask) {
    return this.derived(changed(this.parts.shape, masked(mask), (schema) => schema.optional()));
  }

  deepPartial() {
    return this.derived(changed(this.parts.shape, () => true, (schema) => deepPartial(schema).optional()));
  }

  required(mask) {
    return this.derived(changed(this.parts.shape, masked(mask), (schema) => schema.nonoptional()));
  }

  keyof() {
    return enumeration(Object.keys(this.parts.shape));
  }

  strict() {
    return this.with({ rest: 'strict' });
  }

  strip() {
    return this.with({ rest: 'strip' });
  }

  nonstrict() {
    return this.loose();
  }

  loose() {
    return this.with({ rest: 'loose' });
  }

  passthrough() {
    return this.loose();
  }

  catchall(schema) {
    return this.with({ rest: schema });
  }
}
ZodObject.prototype.kind = 'object';

/** Zod 3's `deepPartial`, through everything that holds objects. */
function deepPartial(schema) {
  if (schema instanceof ZodObject) return schema.deepPartial();
  const { inner, element, items } = schema.parts;
  if (inner) return schema.with({ inner: deepPartial(inner) });
  if (element) return schema.with({ element: deepPartial(element) });
  if (items) return schema.with({ items: items.map(deepPartial) });
  return schema;
}

export const object = (shape = {}, given) => new ZodObject({ ...partsOf(given), shape });
export const strictObject = (shape, given) => object(shape, given).strict();
export const looseObject = (shape, given) => object(shape, given).loose();
export const keyof = (schema) => schema.keyof();
