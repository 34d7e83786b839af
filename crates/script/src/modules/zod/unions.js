// Unions and intersections, described.
import { anyOf } from 'entourage:zod/schema';
import { ZodType, partsOf, put } from 'entourage:zod/type';

export class ZodUnion extends ZodType {
  get options() {
    return this.parts.options;
  }

  outline(write) {
    const sayable = this.parts.options.filter(({ kind }) => kind !== 'undefined');
    return anyOf(sayable.map(write));
  }

  mayBeAbsent() {
    return this.parts.options.some((option) => option.mayBeAbsent());
  }
}
ZodUnion.prototype.kind = 'union';

export class ZodDiscriminatedUnion extends ZodUnion {
  get discriminator() {
    return this.parts.discriminator;
  }
}
ZodDiscriminatedUnion.prototype.kind = 'choice';

const openObject = ({ type, additionalProperties, properties, ...rest }) =>
  type === 'object' && properties !== undefined && additionalProperties === undefined &&
  Object.keys(rest).every((key) => key === 'required' || key === 'description');

export class ZodIntersection extends ZodType {
  outline(write) {
    const sides = [write(this.parts.left), write(this.parts.right)];
    if (!sides.every(openObject)) return { allOf: sides };
    // Two open objects are one object; providers that refuse `allOf` at the top take it.
    const [left, right] = sides;
    const properties = { ...left.properties };
    for (const [name, body] of Object.entries(right.properties)) {
      put(properties, name, Object.hasOwn(properties, name) ? { allOf: [properties[name], body] } : body);
    }
    const required = [...new Set([...(left.required ?? []), ...(right.required ?? [])])];
    return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
  }

  mayBeAbsent() {
    return this.parts.left.mayBeAbsent() && this.parts.right.mayBeAbsent();
  }
}
ZodIntersection.prototype.kind = 'intersection';

export const union = (options, given) => new ZodUnion({ ...partsOf(given), options: [...options] });
export const discriminatedUnion = (discriminator, options, given) =>
  new ZodDiscriminatedUnion({ ...partsOf(given), discriminator, options: [...options] });
export const intersection = (left, right, given) => new ZodIntersection({ ...partsOf(given), left, right });
