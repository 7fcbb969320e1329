/**
 * Decodes a JSON value as an object of a type. It checks types, drops and reports unknown fields, normalises times,
 * drops empty maps and lists, and fills in the fields that Go's structs always print.
 *
 * It does not validate values.
 */
import { isObject, type JsonObject, put } from "./object.ts";
import { canonicalQuantity, QuantityError } from "./quantity.ts";
import { metaPrefix, resolve, type Schema, typeNamed } from "./schema.ts";
import { parseMicroTime, parseTime, TimeError } from "./time.ts";

/** The value does not have the type. The message is the one of Go's decoder. */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
}

export interface Decoded {
  value: JsonObject;
  /** Paths of fields that the type does not have. */
  unknown: string[];
}

/** The text of numbers by path, as `parseJson` returns it. */
type Literals = ReadonlyMap<string, string>;
const noLiterals: Literals = new Map();

export function decode(type: string, value: unknown, literals = noLiterals): Decoded {
  return decodeWith(type, value, false, literals);
}

/** Like `decode`, but fills in nothing: the sender of a server-side apply owns exactly the fields that it sends. */
export function decodeSparse(type: string, value: unknown): Decoded {
  return decodeWith(type, value, true, noLiterals);
}

function decodeWith(type: string, value: unknown, sparse: boolean, literals: Literals): Decoded {
  const unknown: string[] = [];
  if (!isObject(value)) {
    throw new DecodeError(`json: cannot unmarshal ${goKind(value)} into Go value of type ${goName(type)}`);
  }
  const body = { unknown, sparse, literals };
  return { value: decodeStruct(type, typeNamed(type), value, body, ""), unknown };
}

const quantityType = "apimachinery.pkg.api.resource.Quantity";
const timeType = `${metaPrefix}Time`;
const microTimeType = `${metaPrefix}MicroTime`;
const fieldsType = `${metaPrefix}FieldsV1`;

interface Body {
  unknown: string[];
  sparse: boolean;
  literals: Literals;
}

/** Where a value is. */
interface Place {
  body: Body;
  path: string;
  /** The type and the path of the field that has the value, or that has the list or the map with the value. For messages. */
  type: string;
  field: string;
}

function decodeStruct(type: string, schema: Schema, value: JsonObject, body: Body, at: string): JsonObject {
  const out: JsonObject = {};
  const properties = schema.properties ?? {};
  for (const key of Object.keys(value)) {
    const path = at === "" ? key : `${at}.${key}`;
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (property === undefined) {
      body.unknown.push(path);
      continue;
    }
    const decoded = decodeValue(property, value[key], { body, path, type, field: path });
    if (decoded === undefined || (isZero(decoded) && !keepsZero(property, body))) continue;
    out[key] = decoded;
  }
  if (body.sparse) return out;
  for (const [key, property] of fieldsWithDefault(schema)) {
    if (out[key] !== undefined) continue;
    const required = schema.required?.includes(key);
    if (property.$ref && isObject(property.default)) {
      const target = typeNamed(property.$ref);
      if (target.properties) out[key] = decodeStruct(property.$ref, target, {}, body, at);
    } else if (required || property.default) {
      out[key] = property.default;
    }
  }
  return out;
}

/** A number or text is a struct in Go, and Go never leaves out a struct: maxUnavailable: 0 is no missing maxUnavailable. */
function keepsZero(property: Schema, { sparse }: Body): boolean {
  return property.pointer === true || sparse || resolve(property).oneOf !== undefined;
}

/** Every request decodes objects, and a type has many more fields than defaults. */
const defaults = new WeakMap<Schema, readonly [string, Schema][]>();

function fieldsWithDefault(schema: Schema): readonly [string, Schema][] {
  let found = defaults.get(schema);
  if (found === undefined) {
    found = Object.entries(schema.properties ?? {}).filter(([, { default: value }]) => value !== undefined);
    defaults.set(schema, found);
  }
  return found;
}

function mismatch(value: unknown, { body, path, type, field }: Place, expected: string): DecodeError {
  const isInteger = typeof value === "number" && expected.startsWith("int");
  const what = isInteger ? `number ${body.literals.get(path) ?? value}` : goKind(value);
  return new DecodeError(
    `json: cannot unmarshal ${what} into Go struct field ${shortName(type)}.${field} of type ${expected}`,
  );
}

function decodeValue(property: Schema, value: unknown, place: Place): unknown {
  if (value === null || value === undefined) return undefined;
  switch (property.$ref) {
    case timeType:
    case microTimeType:
      if (typeof value !== "string") throw mismatch(value, place, "string");
      return decodeTime(value, property.$ref === microTimeType ? parseMicroTime : parseTime);
    case fieldsType:
      return value;
    case quantityType:
      return decodeQuantity(value);
  }
  const schema = resolve(property);
  if (schema.oneOf) {
    const allowed = schema.oneOf.some(
      ({ type }) => type === typeof value || (type === "integer" && Number.isInteger(value)),
    );
    if (!allowed) throw mismatch(value, place, "string");
    return value;
  }
  switch (schema.type) {
    case "string":
      if (typeof value !== "string")
        throw mismatch(value, place, schema.format === "byte" ? "[]uint8" : "string");
      if (schema.format === "byte") checkBase64(value);
      return value;
    case "boolean":
      if (typeof value !== "boolean") throw mismatch(value, place, "bool");
      return value;
    case "integer": {
      const type = schema.format === "int64" ? "int64" : "int32";
      const literal = place.body.literals.get(place.path);
      if (!isInteger(value, literal, type === "int64" ? 64 : 32)) throw mismatch(value, place, type);
      return value;
    }
    case "number":
      if (typeof value !== "number") throw mismatch(value, place, "float64");
      return value;
    case "array": {
      const items = schema.items as Schema;
      if (!Array.isArray(value)) throw mismatch(value, place, `[]${goType(items)}`);
      if (value.length === 0 && !place.body.sparse) return undefined;
      return value.map((item, index) => decodeValue(items, item, inside(place, `[${index}]`)) ?? zero(items));
    }
    default:
      if (!isObject(value)) throw mismatch(value, place, goType(property));
      if (schema.additionalProperties) return decodeMap(schema.additionalProperties, value, place);
      if (schema.properties) return decodeStruct(property.$ref ?? "", schema, value, place.body, place.path);
      return value;
  }
}

/** The place of an item of a list or of a value of a map. */
function inside({ body, path, type, field }: Place, element: string): Place {
  return { body, path: path + element, type, field };
}

function decodeTime(text: string, parse: (text: string) => string): string {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof TimeError) throw new DecodeError(error.message);
    throw error;
  }
}

function decodeQuantity(value: unknown): string {
  try {
    return canonicalQuantity(typeof value === "string" ? value : JSON.stringify(value));
  } catch (error) {
    if (error instanceof QuantityError) throw new DecodeError(error.message);
    throw error;
  }
}

function decodeMap(values: Schema, value: JsonObject, place: Place): JsonObject | undefined {
  const out: JsonObject = {};
  for (const key of Object.keys(value))
    put(out, key, decodeValue(values, value[key], inside(place, `.${key}`)) ?? zero(values));
  return Object.keys(out).length > 0 || place.body.sparse ? out : undefined;
}

function isInteger(value: unknown, literal: string | undefined, bits: 32 | 64): boolean {
  if (literal === undefined && Number.isSafeInteger(value)) return bits === 64 || isInt32(value as number);
  if (!Number.isInteger(value) || (literal !== undefined && /[.eE]/.test(literal))) return false;
  const exact = BigInt(literal ?? (value as number));
  return BigInt.asIntN(bits, exact) === exact;
}

const isInt32 = (value: number) => value >= -(2 ** 31) && value < 2 ** 31;

const isZero = (value: unknown) => value === "" || value === 0 || value === false;

/** The zero value. Go reads null in a list or in a map as this value. */
function zero(schema: Schema): unknown {
  switch (resolve(schema).type) {
    case "string":
      return "";
    case "integer":
    case "number":
      return 0;
    case "boolean":
      return false;
    case "array":
      return [];
    default:
      return {};
  }
}

function checkBase64(text: string): void {
  const clean = text.replace(/[\r\n]/g, "");
  const wrong =
    /[^A-Za-z0-9+/=]/.exec(clean)?.index ?? (clean.length % 4 === 0 ? -1 : clean.length - (clean.length % 4));
  if (wrong >= 0) throw new DecodeError(`illegal base64 data at input byte ${wrong}`);
}

const shortName = (type: string) => type.slice(type.lastIndexOf(".") + 1);

/** api.coordination.v1.Lease is v1.Lease in Go. */
const goName = (type: string) => type.split(".").slice(-2).join(".");

function goType(schema: Schema): string {
  if (schema.$ref) return goName(schema.$ref);
  if (schema.additionalProperties) return `map[string]${goType(schema.additionalProperties)}`;
  switch (schema.type) {
    case "array":
      return `[]${goType(schema.items as Schema)}`;
    case "integer":
      return schema.format ?? "int32";
    case "boolean":
      return "bool";
    case "string":
      return schema.format === "byte" ? "[]uint8" : "string";
    default:
      return "map[string]interface {}";
  }
}

function goKind(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return typeof value === "object" ? "object" : typeof value;
}
