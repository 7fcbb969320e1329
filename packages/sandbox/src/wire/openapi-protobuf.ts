/**
 * Encodes an OpenAPI v2 document as protobuf, in the messages of github.com/google/gnostic-models/openapiv2. Only the
 * fields that the document has are encoded.
 */
import { isObject, type JsonObject, textOf } from "../objects/object.ts";

/** Field numbers, by message. */
const documentFields = { swagger: 1, info: 2, paths: 8, definitions: 9 };
const infoFields = { title: 1, version: 2 };
const schemaFields = {
  $ref: 1,
  format: 2,
  description: 4,
  required: 19,
  enum: 20,
  additionalProperties: 21,
  type: 22,
  items: 23,
  properties: 25,
  extension: 31,
};
const namedFields = { name: 1, value: 2 };
/** The only field of several messages, and the field of Any that holds YAML. */
const onlyField = 1;
const yamlField = 2;

export function encodeOpenApi(document: JsonObject): Buffer {
  const { swagger, info, definitions } = document as Record<string, JsonObject>;
  const { title, version } = info as JsonObject;
  return Buffer.concat([
    text(documentFields.swagger, textOf(swagger)),
    bytes(
      documentFields.info,
      Buffer.concat([text(infoFields.title, textOf(title)), text(infoFields.version, textOf(version))]),
    ),
    bytes(documentFields.paths, Buffer.alloc(0)),
    bytes(documentFields.definitions, namedSchemas(definitions as JsonObject)),
  ]);
}

function namedSchemas(schemas: JsonObject): Buffer {
  return Buffer.concat(
    Object.entries(schemas).map(([name, value]) =>
      bytes(
        onlyField,
        Buffer.concat([text(namedFields.name, name), bytes(namedFields.value, schema(value as JsonObject))]),
      ),
    ),
  );
}

function schema(value: JsonObject): Buffer {
  const parts: Buffer[] = [];
  for (const [name, part] of Object.entries(value)) {
    if (name === "$ref" || name === "format" || name === "description")
      parts.push(text(schemaFields[name], textOf(part)));
    else if (name === "required")
      parts.push(...(part as string[]).map((item) => text(schemaFields.required, item)));
    else if (name === "enum") parts.push(...(part as unknown[]).map((item) => any(schemaFields.enum, item)));
    else if (name === "type") parts.push(bytes(schemaFields.type, text(onlyField, textOf(part))));
    else if ((name === "items" || name === "additionalProperties") && isObject(part))
      parts.push(bytes(schemaFields[name], bytes(onlyField, schema(part))));
    else if (name === "properties")
      parts.push(bytes(schemaFields.properties, namedSchemas(part as JsonObject)));
    else if (name.startsWith("x-")) {
      const named = Buffer.concat([text(namedFields.name, name), any(namedFields.value, part)]);
      parts.push(bytes(schemaFields.extension, named));
    }
  }
  return Buffer.concat(parts);
}

/** Any value, as YAML. JSON is YAML too. */
const any = (field: number, value: unknown) => bytes(field, text(yamlField, JSON.stringify(value)));

const text = (field: number, value: string) => bytes(field, Buffer.from(value));

/** A field with a length: a string or a message. */
function bytes(field: number, content: Buffer): Buffer {
  return Buffer.concat([varint((field << 3) | 2), varint(content.length), content]);
}

function varint(value: number): Buffer {
  const out: number[] = [];
  let rest = value;
  while (rest > 127) {
    out.push((rest & 127) | 128);
    rest >>>= 7;
  }
  return Buffer.from([...out, rest]);
}
