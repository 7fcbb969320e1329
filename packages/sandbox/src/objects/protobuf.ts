/**
 * Converts the protobuf bodies that Go clients send (kubectl create, controller-runtime) to JSON. Responses are never
 * protobuf, because all of these clients accept JSON too.
 */
import { readFileSync } from "node:fs";
import { parseJson } from "./json.ts";
import { type JsonObject, put } from "./object.ts";
import { resolve, type Schema, typeNamed } from "./schema.ts";

export class ProtobufError extends Error {
  override readonly name = "ProtobufError";
}

/** Every body begins with "k8s" and a zero byte. */
const magic = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
/** Deeper than any kind needs. */
const maxDepth = 100;
const scalars = ["string", "bytes", "bool", "int32", "int64", "double"];

type Fields = Record<string, [name: string, type: string]>;
let messages: Record<string, Fields> | undefined;

function fieldsOf(message: string): Fields {
  messages ??= JSON.parse(
    readFileSync(new URL("../../gen/protobuf.json", import.meta.url), "utf8"),
  ) as Record<string, Fields>;
  return messages[message] ?? {};
}

/** `typeFor` returns the type of the enveloped object, by its apiVersion and kind. */
export function readProtobuf(
  bytes: Buffer,
  typeFor: (apiVersion: string, kind: string) => string,
): JsonObject {
  if (!bytes.subarray(0, 4).equals(magic))
    throw new ProtobufError(
      "provided data does not appear to be a protobuf message, expected prefix 'k8s\\x00'",
    );
  let apiVersion = "";
  let kind = "";
  let raw: Buffer = Buffer.alloc(0);
  for (const { number, bytes: part } of wireFields(bytes.subarray(4))) {
    if (number === 1 && part) {
      for (const { number: field, bytes: text } of wireFields(part)) {
        if (field === 1 && text) apiVersion = text.toString();
        if (field === 2 && text) kind = text.toString();
      }
    }
    if (number === 2 && part) raw = part;
  }
  const type = typeFor(apiVersion, kind);
  return { apiVersion, kind, ...readMessage(raw, type, typeNamed(type), 0) };
}

function readMessage(bytes: Buffer, message: string, schema: Schema, depth: number): JsonObject {
  if (depth > maxDepth) throw new ProtobufError("exceeded max depth");
  const fields = fieldsOf(message);
  const out: JsonObject = {};
  for (const wire of wireFields(bytes)) {
    const [name, declared] = fields[wire.number] ?? [];
    if (name === undefined || declared === undefined) continue;
    const type = declared.replace(/^(\[\]|\{\})/, "");
    const property = schema.properties?.[name];
    if (property === undefined) {
      // An embedded struct: in JSON its fields are fields of the enclosing struct.
      if (wire.bytes && !scalars.includes(type))
        Object.assign(out, readMessage(wire.bytes, type, schema, depth + 1));
    } else if (declared.startsWith("{}")) {
      const map = (out[name] ?? {}) as JsonObject;
      const [key, value] = readEntry(
        wire.bytes ?? Buffer.alloc(0),
        type,
        resolve(property).additionalProperties ?? {},
        depth,
      );
      put(map, key, value);
      out[name] = map;
    } else if (declared.startsWith("[]")) {
      const item = readValue(wire, type, resolve(property).items ?? {}, depth);
      out[name] = [...((out[name] ?? []) as unknown[]), item];
    } else {
      out[name] = readValue(wire, type, property, depth);
    }
  }
  return out;
}

function readEntry(bytes: Buffer, type: string, schema: Schema, depth: number): [string, unknown] {
  let key = "";
  let value: unknown = type === "string" || type === "bytes" ? "" : {};
  for (const wire of wireFields(bytes)) {
    if (wire.number === 1) key = wire.bytes?.toString() ?? "";
    if (wire.number === 2) value = readValue(wire, type, schema, depth);
  }
  return [key, value];
}

function readValue(wire: Wire, type: string, property: Schema, depth: number): unknown {
  const bytes = wire.bytes ?? Buffer.alloc(0);
  switch (type) {
    case "string":
      return bytes.toString();
    case "bytes":
      return bytes.toString("base64");
    case "bool":
      return wire.value !== 0n;
    case "int32":
      return Number(BigInt.asIntN(32, wire.value));
    case "int64":
      return Number(BigInt.asIntN(64, wire.value));
    case "double":
      return bytes.readDoubleLE(0);
  }
  const named = type.slice(type.lastIndexOf(".") + 1);
  const parts = [...wireFields(bytes)];
  const part = (number: number) => parts.find((field) => field.number === number);
  switch (named) {
    case "Time":
    case "MicroTime":
      return parts.length > 0
        ? printTime(part(1)?.value ?? 0n, part(2)?.value ?? 0n, named === "MicroTime")
        : null;
    case "Quantity":
      return part(1)?.bytes?.toString() ?? "0";
    case "IntOrString":
      return part(1)?.value === 1n
        ? (part(3)?.bytes?.toString() ?? "")
        : Number(BigInt.asIntN(32, part(2)?.value ?? 0n));
    case "FieldsV1":
      return readJson(part(1)?.bytes?.toString() || "{}");
    case "RawExtension":
      return readJson(part(1)?.bytes?.toString() || "null");
  }
  const schema = resolve(property);
  // A list as a map value: protobuf wraps it in a message.
  if (schema.type === "array") return parts.map((field) => readValue(field, "string", {}, depth));
  return readMessage(bytes, type, schema, depth + 1);
}

function readJson(text: string): unknown {
  try {
    return parseJson(text).value;
  } catch (error) {
    throw new ProtobufError((error as Error).message);
  }
}

function printTime(seconds: bigint, nanos: bigint, micro: boolean): string {
  const text = new Date(Number(BigInt.asIntN(64, seconds)) * 1000).toISOString().slice(0, 19);
  const fraction = String(Number(BigInt.asIntN(32, nanos)) + 1e9).slice(1, 7);
  return micro ? `${text}.${fraction}Z` : `${text}Z`;
}

interface Wire {
  number: number;
  /** The value of a varint. */
  value: bigint;
  /** The value of all other wire types. */
  bytes: Buffer | undefined;
}

function* wireFields(bytes: Buffer): Generator<Wire> {
  let position = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[position++];
      if (byte === undefined) throw new ProtobufError("unexpected EOF");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new ProtobufError("integer overflow");
  };
  const take = (length: number): Buffer => {
    if (length > bytes.length - position) throw new ProtobufError("unexpected EOF");
    position += length;
    return bytes.subarray(position - length, position);
  };
  while (position < bytes.length) {
    const tag = Number(varint());
    const number = tag >>> 3;
    switch (tag & 7) {
      case 0:
        yield { number, value: varint(), bytes: undefined };
        break;
      case 1:
        yield { number, value: 0n, bytes: take(8) };
        break;
      case 2:
        yield { number, value: 0n, bytes: take(Number(varint())) };
        break;
      case 5:
        yield { number, value: 0n, bytes: take(4) };
        break;
      default:
        throw new ProtobufError(`illegal wireType ${tag & 7}`);
    }
  }
}
