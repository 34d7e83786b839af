// The checks by their names.
(() => {
  'use strict';

  // What has a size is measured by it, the rest by itself.
  const measures = {
    string: (text) => text.length,
    array: (list) => list.length,
    set: (set) => set.size,
    map: (map) => map.size,
    date: (date) => date.getTime(),
    number: (number) => number,
    bigint: (integer) => integer,
  };
  const originOf = (value) => {
    if (Array.isArray(value)) return 'array';
    if (value instanceof Set) return 'set';
    if (value instanceof Map) return 'map';
    return value instanceof Date ? 'date' : typeof value;
  };
  const plain = (limit) => (limit instanceof Date ? limit.getTime() : limit);

  // Steps such as 0.01 have no exact form in binary: a quotient next to a whole number counts as one.
  const isMultiple = (value, step) => {
    if (typeof value === 'bigint') return value % step === 0n;
    const quotient = value / step;
    return Math.abs(quotient - Math.round(quotient)) <= Number.EPSILON * Math.max(1, Math.abs(quotient)) * 4;
  };

  // Each gives nothing if the value is right, else the issue.
  const simple = {
    least(value, { limit, inclusive, exact }) {
      const origin = originOf(value);
      const size = measures[origin](value);
      if (inclusive ? size >= limit : size > limit) return undefined;
      return { code: 'too_small', origin, minimum: plain(limit), inclusive, ...(exact ? { exact } : {}) };
    },
    most(value, { limit, inclusive, exact }) {
      const origin = originOf(value);
      const size = measures[origin](value);
      if (inclusive ? size <= limit : size < limit) return undefined;
      return { code: 'too_big', origin, maximum: plain(limit), inclusive, ...(exact ? { exact } : {}) };
    },
    int: (value) => (Number.isInteger(value) ? undefined : { code: 'invalid_type', expected: 'int', format: 'safeint' }),
    multipleOf: (value, step) =>
      isMultiple(value, step) ? undefined : { code: 'not_multiple_of', origin: typeof value, divisor: step },
    regex(value, pattern) {
      pattern.lastIndex = 0;
      return pattern.test(value) ? undefined : { code: 'invalid_format', format: 'regex', pattern: String(pattern) };
    },
    includes: (value, part, { position }) =>
      value.includes(part, position) ? undefined : { code: 'invalid_format', format: 'includes', includes: part },
    startsWith: (value, prefix) =>
      value.startsWith(prefix) ? undefined : { code: 'invalid_format', format: 'starts_with', prefix },
    endsWith: (value, suffix) =>
      value.endsWith(suffix) ? undefined : { code: 'invalid_format', format: 'ends_with', suffix },
  };

  return ({ formats, next, settingsOf }) => {
    const shaped = (format, value, settings, json) => {
      const test = formats[format]?.(settings) ?? ((text) => new RegExp(json.pattern).test(text));
      return test(value) ? undefined : { code: 'invalid_format', format };
    };

    const refine = ({ value: test, given }, value, { context, path }) =>
      next(context.given(test(value)), (held) => {
        if (held) return;
        const message = typeof given === 'function' ? given(value) : given;
        const { abort, path: below, params, code = 'custom' } = settingsOf(message);
        context.add({ code, path: below, ...(params === undefined ? {} : { params }) }, path, value, message);
        if (abort) context.fatal += 1;
      });

    const visit = ({ value: visitor }, value, { context, path }) => {
      const { ear, report } = context.listen(path, value);
      return next(context.given(visitor(value, ear)), () => void report());
    };

    /** Judges a value by one check. A refinement is not asked about a value that is already `spoiled`. */
    return (check, value, place) => {
      if (check.check === 'refine') return place.spoiled ? undefined : refine(check, value, place);
      if (check.check === 'visit') return place.spoiled ? undefined : visit(check, value, place);
      const { context, path, general } = place;
      const settings = settingsOf(check.given);
      const known = simple[check.check];
      const issue = known ? known(value, check.value, settings) : shaped(check.check, value, settings, check.json);
      if (issue === undefined) return undefined;
      context.add(issue, path, value, check.given, general);
      if (settings.abort) context.fatal += 1;
      return undefined;
    };
  };
})();
