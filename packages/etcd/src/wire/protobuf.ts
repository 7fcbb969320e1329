/**
 * Protocol Buffers for the few messages of etcd that a lock needs. A message is described by a table of its fields, so no code
 * is generated. Integers are bigint: a revision can be larger than a JavaScript number holds.
 */

type FieldType = "bytes" | "string" | "integer" | "boolean" | Message;

interface Field {
  readonly id: number;
  readonly type: FieldType;
  readonly repeated?: boolean;
}

/** The fields of a message by name. Unknown fields are skipped when a message is read. */
export type Message = { readonly [name: string]: Field };

type Values = { readonly [name: string]: unknown };

const varint = 0;
const fixed64 = 1;
const lengthDelimited = 2;
const fixed32 = 5;

export function encode(message: Message, values: Values): Buffer {
  const parts: Uint8Array[] = [];
  for (const [name, field] of Object.entries(message)) {
    const value = values[name];
    if (value === undefined) continue;
    for (const one of field.repeated ? (value as unknown[]) : [value]) {
      const isVarint = field.type === "integer" || field.type === "boolean";
      parts.push(encodeVarint(BigInt(field.id * 8 + (isVarint ? varint : lengthDelimited))));
      if (isVarint) parts.push(encodeVarint(BigInt(one as bigint | boolean)));
      else {
        const bytes = bytesOf(field.type as Exclude<FieldType, "integer" | "boolean">, one);
        parts.push(encodeVarint(BigInt(bytes.length)), bytes);
      }
    }
  }
  return Buffer.concat(parts);
}

function bytesOf(type: "bytes" | "string" | Message, value: unknown): Uint8Array {
  if (type === "bytes") return value as Uint8Array;
  if (type === "string") return Buffer.from(value as string);
  return encode(type, value as Values);
}

function encodeVarint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

/** A field that is missing gets the default of its type: 0n, false, "", no bytes, []. A missing message is undefined. */
export function decode(message: Message, bytes: Uint8Array): Record<string, unknown> {
  const byId = new Map(Object.entries(message).map(([name, field]) => [field.id, { name, ...field }]));
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(message)) values[name] = defaultOf(field);
  const reader = new Reader(bytes);
  while (!reader.isAtEnd) {
    const tag = Number(reader.varint());
    const field = byId.get(tag >> 3);
    const raw = reader.value(tag & 7);
    if (!field) continue;
    const value = decodeValue(field.type, raw);
    if (field.repeated) (values[field.name] as unknown[]).push(value);
    else values[field.name] = value;
  }
  return values;
}

function defaultOf({ type, repeated }: Field): unknown {
  if (repeated) return [];
  if (type === "integer") return 0n;
  if (type === "boolean") return false;
  if (type === "string") return "";
  return type === "bytes" ? new Uint8Array() : undefined;
}

function decodeValue(type: FieldType, raw: bigint | Uint8Array): unknown {
  if (type === "integer" || type === "boolean") {
    if (typeof raw !== "bigint") throw new Error("a field of a message has an unexpected type");
    return type === "integer" ? BigInt.asIntN(64, raw) : raw !== 0n;
  }
  if (typeof raw === "bigint") throw new Error("a field of a message has an unexpected type");
  if (type === "bytes") return raw;
  return type === "string" ? Buffer.from(raw).toString("utf8") : decode(type, raw);
}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) break;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new Error("a message ends in the middle of a number");
  }

  value(wireType: number): bigint | Uint8Array {
    if (wireType === varint) return this.varint();
    if (wireType === lengthDelimited) return this.#take(Number(this.varint()));
    if (wireType === fixed64) return this.#take(8);
    if (wireType === fixed32) return this.#take(4);
    throw new Error(`a message has a field of the unknown wire type ${wireType}`);
  }

  #take(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new Error("a message ends in the middle of a field");
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}
