// Lists, tuples, records, maps and sets, described.
import { anyOf } from 'entourage:zod/schema';
import { string } from 'entourage:zod/string';
import { Limited, ZodType, partsOf, put } from 'entourage:zod/type';

class Counted extends Limited {}
Counted.prototype.keys = ['minItems', , 'maxItems'];

export class ZodArray extends Counted {
  get element() {
    return this.parts.element;
  }

  unwrap() {
    return this.parts.element;
  }

  length(limit, given) {
    return this.exactly(limit, given);
  }

  outline(write) {
    return { type: 'array', items: write(this.parts.element) };
  }
}
ZodArray.prototype.kind = 'array';

export class ZodTuple extends ZodType {
  get items() {
    return this.parts.items;
  }

  rest(schema) {
    return this.with({ others: schema });
  }

  /** How many items must be there: all up to the last that may not be absent. */
  get least() {
    return this.parts.items.findLastIndex((item) => !item.mayBeAbsent()) + 1;
  }

  outline(write) {
    const { items, others } = this.parts;
    const none = others ? { type: 'array', items: write(others) } : { type: 'array', items: {}, maxItems: 0 };
    if (items.length === 0) return none;
    const prefixItems = items.map(write);
    const bounds = others ? { minItems: this.least } : { minItems: this.least, maxItems: items.length };
    // Without further items `items` says nothing that `maxItems` does not. It stands there because some providers refuse
    // a list without `items`, and others, which skip `prefixItems`, then still know what the list is made of.
    return { type: 'array', prefixItems, items: others ? write(others) : anyOf(prefixItems), ...bounds };
  }
}
ZodTuple.prototype.kind = 'tuple';

export class ZodRecord extends ZodType {
  get keySchema() {
    return this.parts.key;
  }

  get valueSchema() {
    return this.parts.value;
  }

  get keyType() {
    return this.parts.key;
  }

  get valueType() {
    return this.parts.value;
  }

  outline(write) {
    const { key, value, partial } = this.parts;
    const names = key.parts.values;
    if (names) {
      // Known keys are told as properties, which every provider understands, instead of as `propertyNames`.
      const properties = {};
      for (const name of names) put(properties, name, write(value));
      const required = partial || value.mayBeAbsent() ? {} : { required: names.map(String) };
      return { type: 'object', properties, ...required, additionalProperties: false };
    }
    const body = { type: 'object', additionalProperties: write(value) };
    const keys = write(key);
    if (keys.type === 'number' || keys.type === 'integer') body.propertyNames = { pattern: '^-?[0-9]+(\\.[0-9]+)?$' };
    // Every key is a string: only what narrows it is worth saying.
    else if (Object.keys(keys).some((word) => word !== 'type')) body.propertyNames = keys;
    return body;
  }
}
ZodRecord.prototype.kind = 'record';

export class ZodMap extends Counted {
  size(limit, given) {
    return this.exactly(limit, given);
  }

  outline(write) {
    const pair = [write(this.parts.key), write(this.parts.value)];
    return { type: 'array', items: { type: 'array', prefixItems: pair, items: anyOf(pair), minItems: 2, maxItems: 2 } };
  }
}
ZodMap.prototype.kind = 'map';

export class ZodSet extends Counted {
  size(limit, given) {
    return this.exactly(limit, given);
  }

  outline(write) {
    return { type: 'array', items: write(this.parts.element), uniqueItems: true };
  }
}
ZodSet.prototype.kind = 'set';

export const array = (element, given) => new ZodArray({ ...partsOf(given), element });

export function tuple(items, others, given) {
  return others instanceof ZodType
    ? new ZodTuple({ ...partsOf(given), items, others })
    : new ZodTuple({ ...partsOf(others), items });
}

/** `z.record(key, value)`, and zod 3's `z.record(value)` with any text for a key. */
export function record(key, value, given) {
  return value instanceof ZodType
    ? new ZodRecord({ ...partsOf(given), key, value })
    : new ZodRecord({ ...partsOf(value), key: string(), value: key });
}

export const partialRecord = (key, value, given) => new ZodRecord({ ...partsOf(given), key, value, partial: true });
export const map = (key, value, given) => new ZodMap({ ...partsOf(given), key, value });
export const set = (element, given) => new ZodSet({ ...partsOf(given), element });
