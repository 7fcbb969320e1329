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
  const place = { unknown, path: "", sparse, literals };
  return { value: decodeStruct(type, typeNamed(type), value, place), unknown };
}

const quantityType = "apimachinery.pkg.api.resource.Quantity";

interface Place {
  unknown: string[];
  path: string;
  sparse: boolean;
  literals: Literals;
}

function decodeStruct(type: string, schema: Schema, value: JsonObject, place: Place): JsonObject {
  const out: JsonObject = {};
  const properties = schema.properties ?? {};
  for (const key of Object.keys(value)) {
    const path = place.path === "" ? key : `${place.path}.${key}`;
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (property === undefined) {
      place.unknown.push(path);
      continue;
    }
    const decoded = decodeValue(property, value[key], { ...place, path }, `${shortName(type)}.${path}`);
    // A number or text is a struct in Go, and Go never leaves out a struct: maxUnavailable: 0 is no missing maxUnavailable.
    const keepsZero = property.pointer || place.sparse || resolve(property).oneOf;
    if (decoded === undefined || (isZero(decoded) && !keepsZero)) continue;
    out[key] = decoded;
  }
  if (place.sparse) return out;
  for (const [key, property] of Object.entries(properties)) {
    if (out[key] !== undefined || property.default === undefined) continue;
    const required = schema.required?.includes(key);
    if (property.$ref && isObject(property.default)) {
      const target = typeNamed(property.$ref);
      if (target.properties) out[key] = decodeStruct(property.$ref, target, {}, place);
    } else if (required || property.default) {
      out[key] = property.default;
    }
  }
  return out;
}

function decodeValue(property: Schema, value: unknown, place: Place, field: string): unknown {
  if (value === null || value === undefined) return undefined;
  const schema = resolve(property);
  const mismatch = (expected: string) => {
    const isInteger = typeof value === "number" && expected.startsWith("int");
    const what = isInteger ? `number ${place.literals.get(place.path) ?? value}` : goKind(value);
    return new DecodeError(
      `json: cannot unmarshal ${what} into Go struct field ${field} of type ${expected}`,
    );
  };

  if (property.$ref === `${metaPrefix}MicroTime` || property.$ref === `${metaPrefix}Time`) {
    if (typeof value !== "string") throw mismatch("string");
    try {
      return property.$ref.endsWith("MicroTime") ? parseMicroTime(value) : parseTime(value);
    } catch (error) {
      if (error instanceof TimeError) throw new DecodeError(error.message);
      throw error;
    }
  }
  if (property.$ref === `${metaPrefix}FieldsV1`) return value;
  if (property.$ref === quantityType) {
    try {
      return canonicalQuantity(typeof value === "string" ? value : JSON.stringify(value));
    } catch (error) {
      if (error instanceof QuantityError) throw new DecodeError(error.message);
      throw error;
    }
  }
  if (schema.oneOf) {
    const allowed = schema.oneOf.some(
      ({ type }) => type === typeof value || (type === "integer" && Number.isInteger(value)),
    );
    if (!allowed) throw mismatch("string");
    return value;
  }
  switch (schema.type) {
    case "string":
      if (typeof value !== "string") throw mismatch(schema.format === "byte" ? "[]uint8" : "string");
      if (schema.format === "byte") checkBase64(value);
      return value;
    case "boolean":
      if (typeof value !== "boolean") throw mismatch("bool");
      return value;
    case "integer": {
      const type = schema.format === "int64" ? "int64" : "int32";
      if (!isInteger(value, place.literals.get(place.path), type === "int64" ? 64 : 32)) throw mismatch(type);
      return value;
    }
    case "number":
      if (typeof value !== "number") throw mismatch("float64");
      return value;
    case "array": {
      const items = schema.items as Schema;
      if (!Array.isArray(value)) throw mismatch(`[]${goType(items)}`);
      if (value.length === 0 && !place.sparse) return undefined;
      return value.map((item, index) => {
        const child = { ...place, path: `${place.path}[${index}]` };
        return decodeValue(items, item, child, field) ?? zero(items);
      });
    }
    default:
      if (!isObject(value)) throw mismatch(goType(property));
      if (schema.additionalProperties) return decodeMap(schema.additionalProperties, value, place, field);
      if (schema.properties) return decodeStruct(property.$ref ?? "", schema, value, place);
      return value;
  }
}

function decodeMap(values: Schema, value: JsonObject, place: Place, field: string): JsonObject | undefined {
  const out: JsonObject = {};
  for (const key of Object.keys(value)) {
    const child = { ...place, path: `${place.path}.${key}` };
    put(out, key, decodeValue(values, value[key], child, field) ?? zero(values));
  }
  return Object.keys(out).length > 0 || place.sparse ? out : undefined;
}

function isInteger(value: unknown, literal: string | undefined, bits: number): boolean {
  if (!Number.isInteger(value) || (literal !== undefined && /[.eE]/.test(literal))) return false;
  const exact = BigInt(literal ?? (value as number));
  return BigInt.asIntN(bits, exact) === exact;
}

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
