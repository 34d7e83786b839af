// `TextEncoder` and `TextDecoder` for UTF-8, the only encoding that files and models here speak.
(() => {
  'use strict';

  class TextEncoder {
    get encoding() {
      return 'utf-8';
    }

    encode(text = '') {
      const source = String(text);
      // No UTF-16 unit takes more than three bytes, and a pair of them takes four.
      const bytes = new Uint8Array(source.length * 3);
      return bytes.slice(0, this.encodeInto(source, bytes).written);
    }

    encodeInto(text, bytes) {
      let written = 0;
      let read = 0;
      for (const letter of String(text)) {
        let point = letter.codePointAt(0);
        // A lone surrogate has no UTF-8 form; the standard says it becomes U+FFFD.
        if (point >= 0xd800 && point <= 0xdfff) point = 0xfffd;
        const size = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
        if (written + size > bytes.length) break;
        if (size === 1) {
          bytes[written] = point;
        } else {
          bytes[written] = [0, 0, 0xc0, 0xe0, 0xf0][size] | (point >> (6 * (size - 1)));
          for (let at = 1; at < size; at += 1) bytes[written + at] = 0x80 | ((point >> (6 * (size - 1 - at))) & 0x3f);
        }
        written += size;
        read += letter.length;
      }
      return { read, written };
    }
  }

  const bytesOf = (data) => {
    if (data instanceof Uint8Array) return data;
    if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    return new Uint8Array(data);
  };

  // How many bytes a lead byte announces, and the range of the second one, which keeps out overlong forms, surrogates
  // and everything above U+10FFFF.
  const announced = (lead) => {
    if (lead >= 0xc2 && lead <= 0xdf) return [2, 0x80, 0xbf];
    if (lead >= 0xe0 && lead <= 0xef) return [3, lead === 0xe0 ? 0xa0 : 0x80, lead === 0xed ? 0x9f : 0xbf];
    if (lead >= 0xf0 && lead <= 0xf4) return [4, lead === 0xf0 ? 0x90 : 0x80, lead === 0xf4 ? 0x8f : 0xbf];
    return [1, 0, 0];
  };

  class TextDecoder {
    #label;
    #fatal;
    #ignoreBom;
    #rest = new Uint8Array(0);

    constructor(label = 'utf-8', { fatal = false, ignoreBOM = false } = {}) {
      this.#label = String(label).trim().toLowerCase();
      if (!['utf-8', 'utf8', 'unicode-1-1-utf-8'].includes(this.#label)) {
        throw new RangeError(`\`TextDecoder\` knows only utf-8 here, not \`${label}\``);
      }
      this.#fatal = Boolean(fatal);
      this.#ignoreBom = Boolean(ignoreBOM);
    }

    get encoding() {
      return 'utf-8';
    }

    get fatal() {
      return this.#fatal;
    }

    get ignoreBOM() {
      return this.#ignoreBom;
    }

    decode(data, { stream = false } = {}) {
      // `state.readFile` gives text as a string, where other runtimes give bytes: both may be decoded.
      if (typeof data === 'string') return data;
      let bytes = data === undefined ? new Uint8Array(0) : bytesOf(data);
      if (this.#rest.length > 0) {
        const joined = new Uint8Array(this.#rest.length + bytes.length);
        joined.set(this.#rest);
        joined.set(bytes, this.#rest.length);
        bytes = joined;
        this.#rest = new Uint8Array(0);
      }
      return this.#decodeAll(bytes, stream);
    }

    #decodeAll(bytes, stream) {
      const chunks = [];
      let points = [];
      const push = (point) => {
        points.push(point);
        if (points.length === 4096) {
          chunks.push(String.fromCodePoint(...points));
          points = [];
        }
      };
      let at = 0;
      while (at < bytes.length) {
        const lead = bytes[at];
        if (lead < 0x80) {
          push(lead);
          at += 1;
          continue;
        }
        const [size, lowest, highest] = announced(lead);
        let taken = 1;
        let point = size === 1 ? 0 : lead & (0x7f >> size);
        while (taken < size && at + taken < bytes.length) {
          const next = bytes[at + taken];
          const fits = taken === 1 ? next >= lowest && next <= highest : next >= 0x80 && next <= 0xbf;
          if (!fits) break;
          point = (point << 6) | (next & 0x3f);
          taken += 1;
        }
        if (size > 1 && taken === size) {
          push(point);
        } else if (stream && size > 1 && at + taken === bytes.length) {
          this.#rest = bytes.slice(at);
        } else if (this.#fatal) {
          throw new TypeError('The data is not valid UTF-8');
        } else {
          push(0xfffd);
        }
        at += taken;
      }
      const text = chunks.join('') + String.fromCodePoint(...points);
      return !this.#ignoreBom && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
    }
  }

  return () => ({ TextEncoder, TextDecoder });
})();
