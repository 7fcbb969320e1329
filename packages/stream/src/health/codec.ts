/**
 * The two messages of grpc.health.v1, encoded by hand, so that no code generator is needed. Unknown fields are skipped, as
 * protobuf requires. Invalid input throws a RangeError.
 * The messages are objects although each has one field, because grpc-js treats a message that is "" or 0 as missing.
 */
export const servingStatus = { unknown: 0, serving: 1, notServing: 2, serviceUnknown: 3 } as const;
export type ServingStatus = (typeof servingStatus)[keyof typeof servingStatus];

export interface HealthRequest {
  readonly service: string;
}

export interface HealthResponse {
  readonly status: ServingStatus;
}

/** `HealthCheckRequest { string service = 1; }` */
export function encodeRequest({ service }: HealthRequest): Buffer {
  if (service === "") return Buffer.alloc(0);
  const text = Buffer.from(service);
  return Buffer.concat([Buffer.from([0x0a]), varint(text.length), text]);
}

export function decodeRequest(bytes: Buffer): HealthRequest {
  let service = "";
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1 && field.bytes) service = field.bytes.toString();
  }
  return { service };
}

/** `HealthCheckResponse { ServingStatus status = 1; }` */
export function encodeResponse({ status }: HealthResponse): Buffer {
  return status === 0 ? Buffer.alloc(0) : Buffer.from([0x08, status]);
}

export function decodeResponse(bytes: Buffer): HealthResponse {
  let status = 0;
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1 && field.value !== undefined) status = field.value;
  }
  return { status: status as ServingStatus };
}

interface Field {
  readonly number: number;
  readonly value?: number;
  readonly bytes?: Buffer;
}

const wireTypes = { varint: 0, fixed64: 1, lengthDelimited: 2, fixed32: 5 } as const;

function* fieldsOf(bytes: Buffer): Generator<Field> {
  let offset = 0;
  const readVarint = (): number => {
    let value = 0;
    for (let shift = 0; shift < 64; shift += 7) {
      const byte = bytes.readUInt8(offset++);
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError("a number has more than 64 bits");
  };
  const take = (length: number): Buffer => {
    if (offset + length > bytes.length) throw new RangeError("a field is longer than its message");
    offset += length;
    return bytes.subarray(offset - length, offset);
  };
  while (offset < bytes.length) {
    const tag = readVarint();
    const number = Math.floor(tag / 8);
    switch (tag % 8) {
      case wireTypes.varint:
        yield { number, value: readVarint() };
        break;
      case wireTypes.lengthDelimited:
        yield { number, bytes: take(readVarint()) };
        break;
      case wireTypes.fixed64:
        take(8);
        break;
      case wireTypes.fixed32:
        take(4);
        break;
      default:
        throw new RangeError(`wire type ${tag % 8} is not supported`);
    }
  }
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 0x80);
  bytes.push(rest);
  return Buffer.from(bytes);
}
