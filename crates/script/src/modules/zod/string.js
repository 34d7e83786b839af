// Strings and their formats, described.
import { Limited, partsOf } from 'entourage:zod/type';

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

// A pattern of JSON Schema has no flags. One that needs them is left out, because without them it would refuse what the
// schema accepts; the others mean the same without.
const patternOf = ({ flags, source }) => (/[ims]/.test(flags) ? undefined : { pattern: source });

// What a model is told about each format. `format` names only formats that JSON Schema knows; the others are told by
// their pattern, because some providers refuse a format that they have never heard of, or not at all where a pattern
// does not say it. No pattern stands beside a known format: it would say nothing new, and what it takes to say it
// exactly (look-ahead) is refused too.
const formats = {
  email: { format: 'email' },
  url: { format: 'uri' },
  httpUrl: { format: 'uri' },
  uuid: { format: 'uuid' },
  guid: { format: 'uuid' },
  datetime: { format: 'date-time' },
  date: { format: 'date' },
  time: { format: 'time' },
  duration: { format: 'duration' },
  ipv4: { format: 'ipv4' },
  ipv6: { format: 'ipv6' },
  ip: { anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] },
  hostname: { format: 'hostname' },
  base64: { contentEncoding: 'base64' },
  base64url: { pattern: '^[A-Za-z0-9_-]*$' },
  cuid: { pattern: '^[cC][0-9a-z]{6,}$' },
  cuid2: { pattern: '^[0-9a-z]+$' },
  nanoid: { pattern: '^[A-Za-z0-9_-]{21}$' },
  ulid: { pattern: '^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$' },
  xid: { pattern: '^[0-9a-vA-V]{20}$' },
  ksuid: { pattern: '^[A-Za-z0-9]{27}$' },
  e164: { pattern: '^\\+[1-9]\\d{6,14}$' },
  hex: { pattern: '^[0-9a-fA-F]*$' },
  lowercase: { pattern: '^[^A-Z]*$' },
  uppercase: { pattern: '^[^a-z]*$' },
  cidrv4: undefined,
  cidrv6: undefined,
  jwt: undefined,
  emoji: undefined,
};

export class ZodString extends Limited {
  outline() {
    return { type: 'string' };
  }

  length(limit, given) {
    return this.exactly(limit, given);
  }

  /** A format by its name; `given` holds its options and its message together. */
  shaped(format, given) {
    // The author's own pattern for addresses is told, as any other pattern is.
    if (given?.pattern instanceof RegExp) return this.checked(format, undefined, patternOf(given.pattern), given);
    return this.checked(format, undefined, formats[format] && { ...formats[format] }, given);
  }

  /** Zod 3's names, which take the version as an option. */
  ip(given) {
    const version = String(given?.version ?? '').replace('v', '');
    return this.shaped({ 4: 'ipv4', 6: 'ipv6' }[version] ?? 'ip', given);
  }

  cidr(given) {
    return this.shaped(given?.version === 'v6' ? 'cidrv6' : 'cidrv4', given);
  }

  regex(pattern, given) {
    return this.checked('regex', pattern, patternOf(pattern), given);
  }

  includes(part, given) {
    const position = given?.position;
    const pattern = position === undefined ? escaped(part) : `^.{${position}}.*${escaped(part)}`;
    return this.checked('includes', part, { pattern }, given);
  }

  startsWith(prefix, given) {
    return this.checked('startsWith', prefix, { pattern: `^${escaped(prefix)}.*` }, given);
  }

  endsWith(suffix, given) {
    return this.checked('endsWith', suffix, { pattern: `.*${escaped(suffix)}$` }, given);
  }

  trim() {
    return this.overwrite((text) => text.trim());
  }

  toLowerCase() {
    return this.overwrite((text) => text.toLowerCase());
  }

  toUpperCase() {
    return this.overwrite((text) => text.toUpperCase());
  }

  normalize(form) {
    return this.overwrite((text) => text.normalize(form));
  }

  get minLength() {
    return limitOf(this, 'minLength', Math.max);
  }

  get maxLength() {
    return limitOf(this, 'maxLength', Math.min);
  }
}
ZodString.prototype.kind = 'string';
ZodString.prototype.keys = ['minLength', , 'maxLength'];

const limitOf = ({ parts }, key, choose) => {
  const limits = (parts.checks ?? []).flatMap(({ json }) => json?.[key] ?? []);
  return limits.length > 0 ? choose(...limits) : null;
};

for (const format of Object.keys(formats)) {
  if (format === 'ip') continue;
  Object.defineProperty(ZodString.prototype, format, {
    value(given) {
      return this.shaped(format, given);
    },
  });
}

export const string = (given) => new ZodString(partsOf(given));

const shaped = (format) => (given) => new ZodString(partsOf(given)).shaped(format, given);
export const email = shaped('email');
export const url = shaped('url');
export const httpUrl = shaped('httpUrl');
export const uuid = shaped('uuid');
export const guid = shaped('guid');
export const ipv4 = shaped('ipv4');
export const ipv6 = shaped('ipv6');
export const cidrv4 = shaped('cidrv4');
export const cidrv6 = shaped('cidrv6');
export const base64 = shaped('base64');
export const base64url = shaped('base64url');
export const cuid = shaped('cuid');
export const cuid2 = shaped('cuid2');
export const nanoid = shaped('nanoid');
export const ulid = shaped('ulid');
export const xid = shaped('xid');
export const ksuid = shaped('ksuid');
export const e164 = shaped('e164');
export const hex = shaped('hex');
export const hostname = shaped('hostname');
export const jwt = shaped('jwt');
export const emoji = shaped('emoji');

const version = (number) => (given) => {
  const settings = typeof given === 'string' ? { message: given } : given;
  return new ZodString(partsOf(given)).shaped('uuid', { ...settings, version: number });
};
export const uuidv4 = version(4);
export const uuidv6 = version(6);
export const uuidv7 = version(7);

export const iso = Object.freeze({
  datetime: shaped('datetime'),
  date: shaped('date'),
  time: shaped('time'),
  duration: shaped('duration'),
});

/** `z.stringbool()`: the words for yes and no that people put into variables. */
export function stringbool(given) {
  const truthy = given?.truthy ?? ['true', '1', 'yes', 'on', 'y', 'enabled'];
  const falsy = given?.falsy ?? ['false', '0', 'no', 'off', 'n', 'disabled'];
  const words = [...truthy, ...falsy];
  return new ZodString(partsOf(given)).transform((text, ear) => {
    const word = given?.case === 'sensitive' ? text : text.toLowerCase();
    if (!words.includes(word)) ear.addIssue({ code: 'invalid_value', values: words });
    return truthy.includes(word);
  });
}
