// From a schema to JSON Schema (draft 2020-12), in the shape that providers of models take.
//
// It says what goes in, before defaults and transforms, because that is what a model writes. So an object closes itself
// (`additionalProperties: false`) only when the author made it strict: a plain one drops what it does not know, and a
// schema that forbade it would refuse calls that the tool accepts. Where providers stumble over what zod would write,
// the same is said in words that they know; each such place says so.

const dialect = 'https://json-schema.org/draft/2020-12/schema';

// Below this a schema has no end: some getter makes a new one each time it is asked.
const deepest = 100;
const endless = 'a getter or `z.lazy` may make a new schema each time';

/** The schema as a tool's parameters: no `$schema`, and an object at the top where it can be one. */
export function describeForModel(root) {
  const body = written(root);
  const branches = body.anyOf ?? body.allOf;
  // Providers insist on `type: "object"` at the top. Beside branches that are all objects it changes nothing.
  if (body.type === undefined && branches?.length > 0 && branches.every((branch) => branch.type === 'object')) {
    return { type: 'object', ...body };
  }
  return body;
}

/** `z.toJSONSchema(schema)`. */
export function toJSONSchema(root) {
  return { $schema: dialect, ...written(root) };
}

function written(root) {
  const open = new Set();
  const names = new Map();
  const definitions = {};
  const refer = (schema) => {
    if (!names.has(schema)) names.set(schema, freeName(schema.parts.meta?.id, names));
    return { $ref: `#/$defs/${names.get(schema)}` };
  };
  const write = (given) => {
    if (typeof given?.outline !== 'function') throw notASchema(given);
    const schema = given.resolved?.() ?? given;
    // Only what contains itself becomes a definition; everything else is written where it is used.
    if (open.has(schema) || names.has(schema)) return refer(schema);
    if (open.size >= deepest) throw new Error(`The schema nests deeper than ${deepest} levels: ${endless}`);
    open.add(schema);
    const body = described(schema, write);
    open.delete(schema);
    if (!names.has(schema)) return body;
    definitions[names.get(schema)] = body;
    // The top keeps its own words, so that it shows its `type`; the definition beside it is what the inside points to.
    return open.size === 0 ? { ...body } : refer(schema);
  };
  const { $ref: own, ...body } = write(root);
  // A wrapper around what contains itself: the top shows the definition's words all the same.
  const top = own === undefined ? body : { ...definitions[own.slice('#/$defs/'.length)], ...body };
  return Object.keys(definitions).length > 0 ? { ...top, $defs: definitions } : top;
}

function notASchema(given) {
  const found = given === null ? 'null' : typeof given;
  return new TypeError(`A schema is made of schemas, such as \`z.string()\`, and not of ${found}`);
}

function freeName(wanted, names) {
  const taken = new Set(names.values());
  const base = typeof wanted === 'string' && /^[\w.-]+$/.test(wanted) ? wanted : undefined;
  if (base !== undefined && !taken.has(base)) return base;
  for (let number = taken.size + 1; ; number += 1) {
    const name = `${base ?? 'schema'}${number}`;
    if (!taken.has(name)) return name;
  }
}

function described(schema, write) {
  const body = schema.outline(write);
  for (const { json } of schema.parts.checks ?? []) if (json) constrain(body, json);
  const { id, ...meta } = schema.parts.meta ?? {};
  for (const [key, value] of Object.entries(meta)) if (value !== undefined) body[key] = value;
  return body;
}

const rising = new Set(['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']);
const falling = new Set(['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']);

/** Adds constraints to a body; of two of a kind the stricter one holds, and two patterns hold both. */
export function constrain(body, constraints) {
  for (const [key, value] of Object.entries(constraints)) {
    if (body[key] === undefined || key === 'type') body[key] = value;
    else if (rising.has(key)) body[key] = Math.max(body[key], value);
    else if (falling.has(key)) body[key] = Math.min(body[key], value);
    else if (body[key] !== value) (body.allOf ??= []).push({ [key]: value });
  }
  return body;
}

/** A value as JSON, for `default` and its like; `undefined` if it has no such form. */
export function asJson(value) {
  try {
    const text = JSON.stringify(value);
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** One of several; a lone branch needs no union, one inside another is none of its own, and nothing is said twice. */
export function anyOf(branches) {
  const different = [];
  const seen = new Set();
  const isUnion = (branch) => branch.anyOf && Object.keys(branch).length === 1;
  for (const branch of branches.flatMap((each) => (isUnion(each) ? each.anyOf : [each]))) {
    const text = JSON.stringify(branch);
    if (!seen.has(text)) different.push(branch);
    seen.add(text);
  }
  return different.length === 1 ? different[0] : { anyOf: different };
}

/** The same, or null. A description moves outside, where models look for it. */
export function orNull(body) {
  const nothing = { type: 'null' };
  const { description, ...rest } = body;
  if (Object.keys(rest).length === 0) return body;
  const branches = rest.anyOf && Object.keys(rest).length === 1 ? rest.anyOf : [rest];
  const union = branches.some(({ type }) => type === 'null') ? branches : [...branches, nothing];
  return description === undefined ? { anyOf: union } : { anyOf: union, description };
}
