// Numbers, whole and big, described.
import { Limited, ZodType, partsOf } from 'entourage:zod/type';

/** The comparisons that numbers and big integers share. */
class Ordered extends Limited {
  gt(limit, given) {
    return this.atLeast(limit, false, given);
  }

  gte(limit, given) {
    return this.atLeast(limit, true, given);
  }

  lt(limit, given) {
    return this.atMost(limit, false, given);
  }

  lte(limit, given) {
    return this.atMost(limit, true, given);
  }

  positive(given) {
    return this.gt(this.zero, given);
  }

  nonnegative(given) {
    return this.gte(this.zero, given);
  }

  negative(given) {
    return this.lt(this.zero, given);
  }

  nonpositive(given) {
    return this.lte(this.zero, given);
  }

  multipleOf(step, given) {
    return this.checked('multipleOf', step, this.told({ multipleOf: step }), given);
  }

  step(step, given) {
    return this.multipleOf(step, given);
  }
}
Ordered.prototype.keys = ['minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum'];

export class ZodNumber extends Ordered {
  outline() {
    return { type: 'number' };
  }

  int(given) {
    // Zod adds the bounds of safe integers to the schema. They tell a model nothing, so they are not written.
    return this.checked('int', undefined, { type: 'integer' }, given);
  }

  finite() {
    return this;
  }

  safe(given) {
    const limit = Number.MAX_SAFE_INTEGER;
    return this.checked('least', { limit: -limit, inclusive: true }, undefined, given)
      .checked('most', { limit, inclusive: true }, undefined, given);
  }

  get isInt() {
    return (this.parts.checks ?? []).some(({ check }) => check === 'int');
  }
}
ZodNumber.prototype.kind = 'number';
ZodNumber.prototype.zero = 0;

export class ZodBigInt extends Ordered {
  outline() {
    return { type: 'integer' };
  }

  told(json) {
    return Object.fromEntries(Object.entries(json).map(([key, limit]) => [key, Number(limit)]));
  }
}
ZodBigInt.prototype.kind = 'bigint';
ZodBigInt.prototype.zero = 0n;

export class ZodNaN extends ZodType {
  outline() {
    return { not: {} };
  }
}
ZodNaN.prototype.kind = 'nan';

export const number = (given) => new ZodNumber(partsOf(given));
export const int = (given) => number(given).int(given);
export const float32 = number;
export const float64 = number;
export const int32 = (given) => int(given).min(-2147483648).max(2147483647);
export const uint32 = (given) => int(given).min(0).max(4294967295);
export const bigint = (given) => new ZodBigInt(partsOf(given));
export const int64 = bigint;
export const uint64 = (given) => bigint(given).nonnegative();
export const nan = (given) => new ZodNaN(partsOf(given));
