// What went wrong while parsing, in the forms in which people read it.
(() => {
  'use strict';

  /** The word for a value's type, as messages use it. */
  function typeName(value) {
    if (value === null) return 'null';
    if (Array.isArray(value)) return 'array';
    if (typeof value === 'number' && Number.isNaN(value)) return 'NaN';
    if (typeof value === 'object') {
      const name = Object.getPrototypeOf(value)?.constructor?.name;
      return name && name !== 'Object' ? name : 'object';
    }
    return typeof value;
  }

  const quoted = (value) => (typeof value === 'string' ? JSON.stringify(value) : String(value));

  const units = { string: 'characters', array: 'items', set: 'items', map: 'entries' };

  const sized = (issue, word, comparison) => {
    const { origin, exact } = issue;
    const limit = word === 'small' ? issue.minimum : issue.maximum;
    const sign = exact ? '' : comparison + (issue.inclusive ? '=' : '');
    const unit = units[origin];
    const rest = unit ? `to have ${sign}${limit} ${unit}` : `to be ${sign}${limit}`;
    return `Too ${word}: expected ${origin} ${rest}`;
  };

  const nouns = {
    email: 'email address', url: 'URL', uuid: 'UUID', guid: 'GUID', datetime: 'ISO datetime', date: 'ISO date',
    time: 'ISO time', duration: 'ISO duration', ipv4: 'IPv4 address', ipv6: 'IPv6 address', ip: 'IP address',
    cidrv4: 'IPv4 range', cidrv6: 'IPv6 range', base64: 'base64-encoded string', base64url: 'base64url-encoded string',
    ulid: 'ULID', xid: 'XID', ksuid: 'KSUID', e164: 'E.164 number', jwt: 'JWT',
  };

  const misshapen = (issue) => {
    if (issue.format === 'starts_with') return `Invalid string: must start with "${issue.prefix}"`;
    if (issue.format === 'ends_with') return `Invalid string: must end with "${issue.suffix}"`;
    if (issue.format === 'includes') return `Invalid string: must include "${issue.includes}"`;
    if (issue.format === 'regex') return `Invalid string: must match pattern ${issue.pattern}`;
    return `Invalid ${nouns[issue.format] ?? issue.format}`;
  };

  /** The message of an issue that nobody gave one. */
  function defaultMessage(issue, input) {
    switch (issue.code) {
      case 'invalid_type':
        return `Invalid input: expected ${issue.expected}, received ${typeName(input)}`;
      case 'invalid_value':
        return issue.values.length === 1
          ? `Invalid input: expected ${quoted(issue.values[0])}`
          : `Invalid option: expected one of ${issue.values.map(quoted).join('|')}`;
      case 'too_small':
        return sized(issue, 'small', '>');
      case 'too_big':
        return sized(issue, 'big', '<');
      case 'not_multiple_of':
        return `Invalid number: must be a multiple of ${issue.divisor}`;
      case 'invalid_format':
        return misshapen(issue);
      case 'unrecognized_keys':
        return `Unrecognized key${issue.keys.length > 1 ? 's' : ''}: ${issue.keys.map(quoted).join(', ')}`;
      case 'invalid_key':
        return `Invalid key in ${issue.origin}`;
      default:
        return 'Invalid input';
    }
  }

  const wordsOf = (issue) => issue.message;

  function flattenError(error, mapper = wordsOf) {
    const formErrors = [];
    const fieldErrors = {};
    for (const issue of error.issues) {
      if (issue.path.length === 0) formErrors.push(mapper(issue));
      else (fieldErrors[issue.path[0]] ??= []).push(mapper(issue));
    }
    return { formErrors, fieldErrors };
  }

  // The issues of a union lie inside it, one list for each option, with paths below the union's own.
  const everyIssue = (issues, prefix = []) =>
    issues.flatMap((issue) => {
      const path = [...prefix, ...issue.path];
      const inner = issue.code === 'invalid_union' ? issue.errors : [];
      return inner.length > 0 ? inner.flatMap((option) => everyIssue(option, path)) : [{ ...issue, path }];
    });

  function formatError(error, mapper = wordsOf) {
    const root = { _errors: [] };
    for (const issue of everyIssue(error.issues)) {
      let place = root;
      for (const step of issue.path) place = place[step] ??= { _errors: [] };
      place._errors.push(mapper(issue));
    }
    return root;
  }

  function treeifyError(error, mapper = wordsOf) {
    const root = { errors: [] };
    for (const issue of everyIssue(error.issues)) {
      let place = root;
      for (const step of issue.path) {
        if (typeof step === 'number') place = (place.items ??= [])[step] ??= { errors: [] };
        else place = (place.properties ??= {})[step] ??= { errors: [] };
      }
      place.errors.push(mapper(issue));
    }
    return root;
  }

  const dotted = (path) => {
    const word = (step, index) => (typeof step === 'number' ? `[${step}]` : `${index > 0 ? '.' : ''}${String(step)}`);
    return path.map(word).join('');
  };

  function prettifyError(error) {
    return [...error.issues]
      .sort((left, right) => left.path.length - right.path.length)
      .map(({ message, path }) => `✖ ${message}${path.length > 0 ? `\n  → at ${dotted(path)}` : ''}`)
      .join('\n');
  }

  const asText = (issues) => JSON.stringify(issues, (_, value) => (typeof value === 'bigint' ? String(value) : value), 2);

  return () => ({ asText, defaultMessage, flattenError, formatError, prettifyError, treeifyError });
})();
