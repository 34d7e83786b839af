// How a text is tested against each format. A format that is missing here is tested by the pattern that a model is told.
(() => {
  'use strict';

  const matches = (regex) => (text) => {
    regex.lastIndex = 0;
    return regex.test(text);
  };

  const isDate = (text) => {
    const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
    if (year === undefined || month < 1 || month > 12 || day < 1) return false;
    const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
    return day <= [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
  };

  const timeOf = ({ precision }) => {
    const clock = '(?:[01]\\d|2[0-3]):[0-5]\\d';
    if (precision === -1) return clock;
    if (precision === 0) return `${clock}:[0-5]\\d`;
    return precision > 0 ? `${clock}:[0-5]\\d\\.\\d{${precision}}` : `${clock}(?::[0-5]\\d(?:\\.\\d+)?)?`;
  };

  const isDatetime = (options) => {
    const zones = ['Z'];
    if (options.offset) zones.push('[+-](?:[01]\\d|2[0-3]):[0-5]\\d');
    if (options.local) zones.push('');
    const rest = new RegExp(`^T${timeOf(options)}(?:${zones.join('|')})$`);
    return (text) => isDate(text.slice(0, 10)) && rest.test(text.slice(10));
  };

  const isIpv4 = (text) => {
    const parts = text.split('.');
    const isByte = (part) => /^\d{1,3}$/.test(part) && part <= 255 && String(Number(part)) === part;
    return parts.length === 4 && parts.every(isByte);
  };

  const isIpv6 = (text) => {
    const halves = text.split('::');
    if (halves.length > 2 || !/^[0-9a-f:.]+$/i.test(text)) return false;
    const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
    const last = groups.at(-1) ?? '';
    const embedded = last.includes('.');
    if (embedded && !isIpv4(last)) return false;
    const plain = embedded ? groups.slice(0, -1) : groups;
    const count = plain.length + (embedded ? 2 : 0);
    return plain.every((group) => /^[0-9a-f]{1,4}$/i.test(group)) && (halves.length === 2 ? count < 8 : count === 8);
  };

  const isRange = (isAddress, bits) => (text) => {
    const [address, size, ...more] = text.split('/');
    return more.length === 0 && isAddress(address) && /^\d{1,3}$/.test(size ?? '') && size <= bits;
  };

  const isUrl = ({ hostname, protocol }) => (text) => {
    const url = URL.parse(text.trim());
    if (url === null) return false;
    return (!hostname || matches(hostname)(url.hostname)) && (!protocol || matches(protocol)(url.protocol.slice(0, -1)));
  };

  const isJwt = (text) => {
    const parts = text.split('.');
    if (parts.length !== 3) return false;
    try {
      return typeof JSON.parse(atob(parts[0].replaceAll('-', '+').replaceAll('_', '/'))).alg === 'string';
    } catch {
      return false;
    }
  };

  const uuidOf = ({ version }) => {
    const digit = version === undefined ? '[1-8]' : String(version).replace(/^v/, '');
    const usual = `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-${digit}[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}`;
    const bounds = version === undefined ? '|0{8}-0{4}-0{4}-0{4}-0{12}|[fF]{8}-[fF]{4}-[fF]{4}-[fF]{4}-[fF]{12}' : '';
    return new RegExp(`^(?:${usual}${bounds})$`);
  };

  const email = /^[\w'+&*=?^~!#$%`{|}/-]+(?:\.[\w'+&*=?^~!#$%`{|}/-]+)*@(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+[A-Za-z]{2,}$/;
  const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';

  return () => ({
    email: ({ pattern }) => matches(pattern ?? email),
    url: isUrl,
    httpUrl: () => isUrl({ protocol: /^https?$/ }),
    uuid: (options) => matches(uuidOf(options)),
    guid: () => matches(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i),
    datetime: isDatetime,
    date: () => isDate,
    time: (options) => matches(new RegExp(`^${timeOf(options)}$`)),
    duration: () =>
      matches(/^P(?=\d|T\d)(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:[.,]\d+)?S)?)?)$/),
    ipv4: () => isIpv4,
    ipv6: () => isIpv6,
    ip: () => (text) => isIpv4(text) || isIpv6(text),
    cidrv4: () => isRange(isIpv4, 32),
    cidrv6: () => isRange(isIpv6, 128),
    base64: () => matches(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/),
    hostname: () => matches(new RegExp(`^(?=.{1,253}\\.?$)${label}(?:\\.${label})*\\.?$`)),
    // The patterns that a model is told for these two know only ASCII.
    lowercase: () => (text) => text === text.toLowerCase(),
    uppercase: () => (text) => text === text.toUpperCase(),
    jwt: () => isJwt,
    // Made only when somebody asks: the engine builds the tables of Unicode for it.
    emoji: () => matches(new RegExp('^(?:\\p{Extended_Pictographic}|\\p{Emoji_Component})+$', 'u')),
  });
})();
