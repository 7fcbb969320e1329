/** The subset of DER (ASN.1) that X.509 certificates need. Each function returns one encoded element. */

function element(tag: number, ...content: Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const digits = body.length.toString(16);
  const length = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, "hex");
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, body]);
}

export const sequence = (...items: Uint8Array[]) => element(0x30, ...items);
export const set = (...items: Uint8Array[]) => element(0x31, ...items);
export const octets = (content: Uint8Array) => element(0x04, content);
export const utf8 = (text: string) => element(0x0c, Buffer.from(text));
export const boolean = (value: boolean) => element(0x01, Buffer.from([value ? 0xff : 0]));
/** A constructed element with a context-specific tag. */
export const tagged = (number: number, ...content: Uint8Array[]) => element(0xa0 | number, ...content);
/** A primitive element with a context-specific tag. */
export const implicit = (number: number, content: Uint8Array) => element(0x80 | number, content);

/** An unsigned integer, most significant byte first. */
export function integer(bytes: Uint8Array): Buffer {
  const padded = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes;
  return element(0x02, padded);
}

/** A bit string. `unused` is the number of unused bits in the last byte. */
export function bits(content: Uint8Array, unused = 0): Buffer {
  return element(0x03, Buffer.from([unused]), content);
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const groups = [part & 0x7f];
    for (let left = part >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return element(0x06, Buffer.from(bytes));
}

/** UTCTime before 2050, GeneralizedTime from 2050 on, as RFC 5280 requires. */
export function time(wallMs: number): Buffer {
  const text = new Date(wallMs).toISOString().replace(/[-:T]/g, "").slice(0, 14);
  return Number(text.slice(0, 4)) >= 2050
    ? element(0x18, Buffer.from(`${text}Z`))
    : element(0x17, Buffer.from(`${text.slice(2)}Z`));
}
