// `crypto.randomUUID` and `crypto.getRandomValues`, from the operating system's random bytes. Hashes and keys are
// deliberately absent: a tool that signs something belongs behind an MCP server.
(() => {
  'use strict';

  const limit = 65536;

  return ({ random }) => {
    const draw = (count) => {
      if (typeof random !== 'function') throw new Error('`crypto` has no source of random numbers here');
      return Uint8Array.from(random(count));
    };

    const getRandomValues = (array) => {
      const whole = ArrayBuffer.isView(array) && !(array instanceof DataView);
      if (!whole || array instanceof Float32Array || array instanceof Float64Array) {
        throw new TypeError('crypto.getRandomValues takes an array of integers, such as `Uint8Array`');
      }
      if (array.byteLength > limit) throw new Error(`crypto.getRandomValues gives at most ${limit} bytes at once`);
      new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(draw(array.byteLength));
      return array;
    };

    const randomUUID = () => {
      const bytes = draw(16);
      // Version 4, variant 1, as RFC 9562 places them.
      bytes[6] = (bytes[6] & 0x0f) | 0x40;
      bytes[8] = (bytes[8] & 0x3f) | 0x80;
      const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
      return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    };

    return { crypto: Object.freeze({ getRandomValues, randomUUID }) };
  };
})();
