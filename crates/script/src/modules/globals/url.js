// `URL` and `URLSearchParams`, after the URL standard, for the addresses that tools really build and take apart.
//
// Deliberately absent: host names outside ASCII (they would need the tables of IDNA) and the older spellings of IPv4
// addresses. Both are refused, never guessed.
(() => {
  'use strict';

  const ports = { 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443', 'ftp:': '21', 'file:': '' };
  const isSpecial = (protocol) => Object.hasOwn(ports, protocol);

  // Letters that each part percent-encodes, beyond controls and everything outside ASCII.
  const unsafe = {
    fragment: ' "<>`',
    query: ' "#<>',
    specialQuery: ' "#<>\'',
    path: ' "#<>?`{}^',
    userinfo: ' "#<>?`{}/:;=@[\\]^|',
  };
  const encode = (text, letters) => {
    let out = '';
    for (const letter of text.toWellFormed()) {
      const point = letter.codePointAt(0);
      const keep = point > 0x1f && point < 0x7f && !letters.includes(letter);
      if (keep) out += letter;
      else if (point < 0x80) out += `%${point.toString(16).toUpperCase().padStart(2, '0')}`;
      else out += encodeURIComponent(letter);
    }
    return out;
  };

  const bad = (text) => new TypeError(`Invalid URL: ${JSON.stringify(String(text))}`);

  const parseHost = (text, special) => {
    if (text.startsWith('[')) {
      const inner = text.slice(1, -1).toLowerCase();
      const groups = inner.split(':');
      const plain = text.endsWith(']') && /^[0-9a-f:.]+$/.test(inner) && groups.length <= 8 && groups.length >= 3;
      if (!plain || inner.split('::').length > 2 || (groups.length < 8 && !inner.includes('::'))) return null;
      return `[${inner}]`;
    }
    if (!special) return /[\s#/<>?@[\\\]^|]/.test(text) ? null : encode(text, '');
    let host = text;
    try {
      host = decodeURIComponent(text);
    } catch {
      return null;
    }
    host = host.toLowerCase();
    if (!/^[a-z0-9._~!$&'()*+,;=-]+$/.test(host)) return null;
    if (/^[\d.]+$/.test(host)) {
      const numbers = host.replace(/\.$/, '').split('.');
      return numbers.length === 4 && numbers.every((part) => /^\d{1,3}$/.test(part) && part <= 255)
        ? numbers.map(Number).join('.')
        : null;
    }
    return host;
  };

  const dots = (segment) => segment.replace(/%2e/gi, '.');
  const normalise = (segments, special) => {
    const out = [];
    segments.forEach((segment, index) => {
      const last = index === segments.length - 1;
      const plain = dots(segment);
      if (plain === '..') {
        out.pop();
        if (last) out.push('');
      } else if (plain === '.') {
        if (last) out.push('');
      } else {
        out.push(encode(segment, unsafe.path));
      }
    });
    return special || out.length > 0 ? `/${out.join('/')}` : '';
  };

  const parseAuthority = (text, record, special) => {
    const at = text.lastIndexOf('@');
    if (at >= 0) {
      const [user, ...rest] = text.slice(0, at).split(':');
      record.username = encode(user, unsafe.userinfo);
      record.password = encode(rest.join(':'), unsafe.userinfo);
    }
    const match = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(text.slice(at + 1));
    if (!match) return false;
    const host = match[1] === '' ? (special && record.protocol !== 'file:' ? null : '') : parseHost(match[1], special);
    if (host === null || Number(match[2] ?? 0) > 65535) return false;
    record.hostname = record.protocol === 'file:' && host === 'localhost' ? '' : host;
    const port = match[2] ? String(Number(match[2])) : '';
    record.port = port === ports[record.protocol] ? '' : port;
    return true;
  };

  const parts = /^([^?#]*)(\?[^#]*)?(#.*)?$/s;
  const ending = (record, search, hash, special) => {
    const query = special ? unsafe.specialQuery : unsafe.query;
    record.search = search && search !== '?' ? `?${encode(search.slice(1), query)}` : '';
    record.hash = hash && hash !== '#' ? `#${encode(hash.slice(1), unsafe.fragment)}` : '';
    return record;
  };
  const empty = { username: '', password: '', hostname: null, port: '', pathname: '', search: '', hash: '' };

  const parseAbsolute = (protocol, rest) => {
    const special = isSpecial(protocol);
    const record = { protocol, ...empty };
    let [, path, search, hash] = parts.exec(rest);
    if (special) path = path.replaceAll('\\', '/');
    if (special && protocol !== 'file:') path = `//${path.replace(/^\/+/, '')}`;
    if (path.startsWith('//')) {
      const end = path.indexOf('/', 2);
      const authority = end < 0 ? path.slice(2) : path.slice(2, end);
      if (!parseAuthority(authority, record, special)) return null;
      record.pathname = normalise(end < 0 ? (special ? [''] : []) : path.slice(end + 1).split('/'), special);
    } else if (path.startsWith('/') || protocol === 'file:') {
      record.hostname = protocol === 'file:' ? '' : null;
      record.pathname = normalise(path.replace(/^\//, '').split('/'), true);
    } else {
      // `mailto:` and its like: the path means nothing to us.
      record.pathname = encode(path, '');
    }
    return ending(record, search, hash, special);
  };

  const parseRelative = (text, base) => {
    const special = isSpecial(base.protocol);
    if (!base.pathname.startsWith('/') && base.hostname === null && !text.startsWith('#')) return null;
    let [, path, search, hash] = parts.exec(text);
    if (special) path = path.replaceAll('\\', '/');
    if (path.startsWith('//')) return parseAbsolute(base.protocol, path + (search ?? '') + (hash ?? ''));
    const record = { ...base };
    if (path === '') return ending(record, search ?? base.search, hash, special);
    const parents = path.startsWith('/') ? [] : base.pathname.slice(1).split('/').slice(0, -1);
    record.pathname = normalise([...parents, ...path.replace(/^\//, '').split('/')], true);
    return ending(record, search, hash, special);
  };

  const parse = (text, base) => {
    const source = String(text).replace(/^[\0- ]+|[\0- ]+$/g, '').replace(/[\t\n\r]/g, '');
    const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(source);
    if (scheme) {
      const protocol = scheme[0].toLowerCase();
      const rest = source.slice(scheme[0].length);
      const alike = base?.protocol === protocol && isSpecial(protocol) && !/^[/\\]/.test(rest);
      return alike ? parseRelative(rest, base) : parseAbsolute(protocol, rest);
    }
    return base ? parseRelative(source, base) : null;
  };

  const hex = (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`;
  const formEncode = (text) =>
    encodeURIComponent(String(text).toWellFormed()).replace(/%20/g, '+').replace(/[!'()~]/g, hex);
  const formDecode = (text) => {
    const plain = text.replaceAll('+', ' ');
    try {
      return decodeURIComponent(plain);
    } catch {
      return plain;
    }
  };

  class URLSearchParams {
    #pairs = [];
    #changed;

    constructor(init = '', changed) {
      this.#changed = changed;
      if (typeof init === 'string') {
        for (const pair of init.replace(/^\?/, '').split('&')) {
          if (pair === '') continue;
          const at = pair.indexOf('=');
          const [name, value] = at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
          this.#pairs.push([formDecode(name), formDecode(value)]);
        }
      } else {
        const entries = typeof init[Symbol.iterator] === 'function' ? init : Object.entries(init);
        for (const [name, value] of entries) this.#pairs.push([String(name), String(value)]);
      }
    }

    #tell() {
      this.#changed?.(this.toString());
    }

    get size() {
      return this.#pairs.length;
    }

    append(name, value) {
      this.#pairs.push([String(name), String(value)]);
      this.#tell();
    }

    delete(name, value) {
      const isMeant = ([known, held]) => known === name && (value === undefined || held === String(value));
      this.#pairs = this.#pairs.filter((pair) => !isMeant(pair));
      this.#tell();
    }

    get(name) {
      return this.#pairs.find(([known]) => known === name)?.[1] ?? null;
    }

    getAll(name) {
      return this.#pairs.filter(([known]) => known === name).map(([, value]) => value);
    }

    has(name, value) {
      return this.#pairs.some(([known, held]) => known === name && (value === undefined || held === String(value)));
    }

    set(name, value) {
      const first = this.#pairs.findIndex(([known]) => known === name);
      if (first < 0) return this.append(name, value);
      this.#pairs[first][1] = String(value);
      this.#pairs = this.#pairs.filter(([known], index) => known !== name || index === first);
      this.#tell();
    }

    sort() {
      this.#pairs.sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
      this.#tell();
    }

    forEach(visit, self) {
      for (const [name, value] of this.#pairs) visit.call(self, value, name, this);
    }

    *entries() {
      for (const [name, value] of this.#pairs) yield [name, value];
    }

    *keys() {
      for (const [name] of this.#pairs) yield name;
    }

    *values() {
      for (const [, value] of this.#pairs) yield value;
    }

    [Symbol.iterator]() {
      return this.entries();
    }

    toString() {
      return this.#pairs.map(([name, value]) => `${formEncode(name)}=${formEncode(value)}`).join('&');
    }
  }

  class URL {
    #record;
    #params;

    constructor(text, base) {
      const under = base === undefined ? undefined : parse(base instanceof URL ? base.href : base);
      this.#record = under === null ? null : parse(text instanceof URL ? text.href : text, under);
      if (this.#record === null) throw bad(under === null ? base : text);
    }

    static canParse(text, base) {
      return URL.parse(text, base) !== null;
    }

    static parse(text, base) {
      try {
        return new URL(text, base);
      } catch {
        return null;
      }
    }

    // A setter takes the new part through the parser, and a part that does not fit changes nothing.
    #replace(changes) {
      const record = parse(URL.#write({ ...this.#record, ...changes }));
      if (record !== null) this.#record = record;
    }

    static #write({ protocol, username, password, hostname, port, pathname, search, hash }) {
      const user = username === '' && password === '' ? '' : `${username}${password === '' ? '' : `:${password}`}@`;
      const authority = hostname === null ? '' : `//${user}${hostname}${port === '' ? '' : `:${port}`}`;
      return protocol + authority + pathname + search + hash;
    }

    get href() {
      return URL.#write(this.#record);
    }

    set href(text) {
      this.#record = new URL(text).#record;
      this.#params = undefined;
    }

    get origin() {
      const { protocol } = this.#record;
      return isSpecial(protocol) && protocol !== 'file:' ? `${protocol}//${this.host}` : 'null';
    }

    get protocol() {
      return this.#record.protocol;
    }

    set protocol(text) {
      const protocol = `${String(text).replace(/:.*$/s, '').toLowerCase()}:`;
      if (isSpecial(protocol) === isSpecial(this.#record.protocol)) this.#replace({ protocol });
    }

    get username() {
      return this.#record.username;
    }

    set username(text) {
      this.#replace({ username: encode(String(text), unsafe.userinfo) });
    }

    get password() {
      return this.#record.password;
    }

    set password(text) {
      this.#replace({ password: encode(String(text), unsafe.userinfo) });
    }

    get host() {
      const { hostname, port } = this.#record;
      return (hostname ?? '') + (port === '' ? '' : `:${port}`);
    }

    set host(text) {
      const [, hostname, port] = /^(\[[^\]]*\]|[^:/?#]*)(?::(\d+))?/.exec(String(text));
      if (hostname !== '') this.#replace({ hostname, port: port ?? this.#record.port });
    }

    get hostname() {
      return this.#record.hostname ?? '';
    }

    set hostname(text) {
      if (!/[:/?#@]/.test(String(text).replace(/^\[.*\]$/, ''))) this.#replace({ hostname: String(text) });
    }

    get port() {
      return this.#record.port;
    }

    set port(value) {
      this.#replace({ port: String(value).match(/^\d*/)[0] });
    }

    get pathname() {
      return this.#record.pathname;
    }

    set pathname(text) {
      const path = String(text).replace(/[?#]/g, (letter) => (letter === '?' ? '%3F' : '%23'));
      this.#replace({ pathname: path.startsWith('/') ? path : `/${path}` });
    }

    get search() {
      return this.#record.search;
    }

    set search(text) {
      this.#replace({ search: text === '' ? '' : `?${String(text).replace(/^\?/, '').replaceAll('#', '%23')}` });
      this.#params = undefined;
    }

    get hash() {
      return this.#record.hash;
    }

    set hash(text) {
      this.#replace({ hash: text === '' ? '' : `#${String(text).replace(/^#/, '')}` });
    }

    get searchParams() {
      this.#params ??= new URLSearchParams(this.search, (search) => {
        this.#record.search = search === '' ? '' : `?${search}`;
      });
      return this.#params;
    }

    toString() {
      return this.href;
    }

    toJSON() {
      return this.href;
    }
  }

  return () => ({ URL, URLSearchParams });
})();
