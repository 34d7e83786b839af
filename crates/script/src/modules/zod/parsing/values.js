// How schemas without an inside take a value, by their kinds.
(() => {
  'use strict';

  const attempt = (make, otherwise) => {
    try {
      return make();
    } catch {
      return otherwise;
    }
  };

  /** A kind whose values all have one type. */
  const typed = (expected, fits) => (schema, value, context, path) =>
    fits(value) ? value : context.refuseType(schema, expected, value, path);

  return () => ({
    any: (schema, value) => value,
    never: typed('never', () => false),
    null: typed('null', (value) => value === null),
    undefined: typed('undefined', (value) => value === undefined),
    symbol: typed('symbol', (value) => typeof value === 'symbol'),
    nan: typed('nan', Number.isNaN),

    string(schema, value, context, path) {
      const text = schema.parts.coerce ? attempt(() => String(value)) : value;
      return typeof text === 'string' ? text : context.refuseType(schema, 'string', value, path);
    },

    number(schema, value, context, path) {
      const number = schema.parts.coerce ? attempt(() => Number(value), NaN) : value;
      return Number.isFinite(number) ? number : context.refuseType(schema, 'number', number, path);
    },

    bigint(schema, value, context, path) {
      // JSON has no big integers: a model sends a number or, beyond what those hold, a string of digits.
      const isJson = context.wire && (Number.isInteger(value) || (typeof value === 'string' && /^-?\d+$/.test(value)));
      const integer = schema.parts.coerce || isJson ? attempt(() => BigInt(value)) : value;
      return typeof integer === 'bigint' ? integer : context.refuseType(schema, 'bigint', value, path);
    },

    boolean(schema, value, context, path) {
      const flag = schema.parts.coerce ? Boolean(value) : value;
      return typeof flag === 'boolean' ? flag : context.refuseType(schema, 'boolean', value, path);
    },

    date(schema, value, context, path) {
      // JSON has no dates: a model sends the text that the schema asks for.
      const isJson = context.wire && typeof value === 'string';
      const date = schema.parts.coerce || isJson ? attempt(() => new Date(value)) : value;
      const fits = date instanceof Date && !Number.isNaN(date.getTime());
      return fits ? date : context.refuseType(schema, 'date', value, path);
    },

    values(schema, value, context, path) {
      const { values, given } = schema.parts;
      if (values.includes(value)) return value;
      // A big integer arrives as a number from JSON.
      const found = context.wire && Number.isInteger(value) ? BigInt(value) : undefined;
      if (found !== undefined && values.includes(found)) return found;
      return context.refuse({ code: 'invalid_value', values }, path, value, given);
    },
  });
})();
