// Schemas without an inside, described: booleans, dates, literals, enumerations, and the ones that take everything or
// nothing.
import { Limited, ZodType, partsOf } from 'entourage:zod/type';

export class ZodBoolean extends ZodType {
  outline() {
    return { type: 'boolean' };
  }
}
ZodBoolean.prototype.kind = 'boolean';

export class ZodNull extends ZodType {
  outline() {
    return { type: 'null' };
  }
}
ZodNull.prototype.kind = 'null';

/** What only takes `undefined`. JSON cannot say it, so an object leaves such a member out of its schema. */
export class ZodUndefined extends ZodType {
  outline() {
    return { not: {} };
  }

  mayBeAbsent() {
    return true;
  }
}
ZodUndefined.prototype.kind = 'undefined';

export class ZodVoid extends ZodUndefined {}

export class ZodAny extends ZodType {}

export class ZodUnknown extends ZodType {}

/** A judgement of the author's own. A model is told nothing about it, because nothing is known. */
export class ZodCustom extends ZodType {}

export class ZodNever extends ZodType {
  outline() {
    return { not: {} };
  }
}
ZodNever.prototype.kind = 'never';

export class ZodSymbol extends ZodType {
  outline() {
    throw new Error('`z.symbol()` has no form in JSON, so no model can fill it in');
  }
}
ZodSymbol.prototype.kind = 'symbol';

export class ZodDate extends Limited {
  outline() {
    return { type: 'string', format: 'date-time' };
  }

  // JSON Schema has no words for the limits of a date.
  told() {
    return undefined;
  }
}
ZodDate.prototype.kind = 'date';
ZodDate.prototype.keys = [];

const jsonTypes = { string: 'string', number: 'number', boolean: 'boolean', bigint: 'integer' };
const typeOf = (value) => (value === null ? 'null' : jsonTypes[typeof value]);

/** The JSON Schema of a list of values: a `const` for one, else an `enum`, with the type where they share it. */
const outlineOf = (values) => {
  const sayable = values
    .filter((value) => value !== undefined)
    .map((value) => (typeof value === 'bigint' ? Number(value) : value));
  if (sayable.length === 0) return { not: {} };
  const types = [...new Set(sayable.map(typeOf))];
  if (types.length === 1 && types[0] === 'null') return { type: 'null' };
  const type = types.length === 1 ? { type: types[0] } : {};
  return sayable.length === 1 ? { ...type, const: sayable[0] } : { ...type, enum: sayable };
};

export class ZodLiteral extends ZodType {
  outline() {
    return outlineOf(this.parts.values);
  }

  mayBeAbsent() {
    return this.parts.values.includes(undefined);
  }

  get value() {
    return this.parts.values[0];
  }

  get values() {
    return new Set(this.parts.values);
  }
}
ZodLiteral.prototype.kind = 'values';

// TypeScript writes each number of an enum twice: by its name, and its name by the number.
const entriesOf = (values) => {
  if (Array.isArray(values)) return Object.fromEntries(values.map((value) => [value, value]));
  const backward = new Set(Object.values(values).filter((value) => typeof value === 'number').map(String));
  return Object.fromEntries(Object.entries(values).filter(([name]) => !backward.has(name)));
};

export class ZodEnum extends ZodType {
  outline() {
    const { const: only, ...body } = outlineOf(this.options);
    // An enumeration of one is still one: `enum`, as with any other number of options.
    return only === undefined ? body : { ...body, enum: [only] };
  }

  get enum() {
    return this.parts.entries;
  }

  get Enum() {
    return this.parts.entries;
  }

  get Values() {
    return this.parts.entries;
  }

  get options() {
    return this.parts.values;
  }

  limitedTo(keep, given) {
    const kept = Object.entries(this.parts.entries).filter(([name]) => keep(name));
    return ofEntries(Object.fromEntries(kept), { ...this.parts, ...partsOf(given) });
  }

  extract(names, given) {
    return this.limitedTo((name) => names.includes(name), given);
  }

  exclude(names, given) {
    return this.limitedTo((name) => !names.includes(name), given);
  }
}
ZodEnum.prototype.kind = 'values';

const ofEntries = (entries, parts) => new ZodEnum({ ...parts, entries, values: Object.values(entries) });

const isJson = (value) => {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isJson);
  return typeof value === 'object' && Object.values(value).every(isJson);
};

export const boolean = (given) => new ZodBoolean(partsOf(given));
export const nothing = (given) => new ZodNull(partsOf(given));
export const absent = (given) => new ZodUndefined(partsOf(given));
export const empty = (given) => new ZodVoid(partsOf(given));
export const any = (given) => new ZodAny(partsOf(given));
export const unknown = (given) => new ZodUnknown(partsOf(given));
export const never = (given) => new ZodNever(partsOf(given));
export const symbol = (given) => new ZodSymbol(partsOf(given));
export const date = (given) => new ZodDate(partsOf(given));
export const literal = (values, given) =>
  new ZodLiteral({ ...partsOf(given), values: Array.isArray(values) ? values : [values] });
export const enumeration = (values, given) => ofEntries(entriesOf(values), partsOf(given));
export const nativeEnum = enumeration;

const settings = (given) => (typeof given === 'string' ? { message: given } : given);
export const custom = (test = () => true, given) => new ZodCustom().refine(test, { abort: true, ...settings(given) });
export const instance = (kind, given) =>
  custom((value) => value instanceof kind, { message: `Input not instance of ${kind.name}`, ...settings(given) });
export const json = (given) => new ZodCustom().refine(isJson, given);
