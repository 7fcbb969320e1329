/**
 * OpenAPI v2, as JSON or as protobuf. kubectl asks for it when a manifest has a kind that no group declares, and needs
 * an answer to be able to say so. It has the types, but no paths.
 */
import type { JsonObject } from "../objects/object.ts";
import { groupVersions, resourcesOf } from "../objects/resources.ts";
import { allTypes, kubernetesRelease, readDescriptions, type Schema } from "../objects/schema.ts";
import type { ApiResponse } from "../registry/context.ts";
import { encodeOpenApi } from "./openapi-protobuf.ts";

const protobufType = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
let document: JsonObject | undefined;

export function openApiV2(accept = ""): ApiResponse {
  document ??= makeDocument();
  // Older clients write the version with an @.
  if (accept.includes("application/com.github.proto-openapi.spec.v2"))
    return { type: "bytes", code: 200, contentType: protobufType, bytes: encodeOpenApi(document) };
  return { type: "object", code: 200, value: document };
}

function makeDocument(): JsonObject {
  const descriptions = readDescriptions();
  const definitions: JsonObject = {};
  for (const [type, schema] of Object.entries(allTypes()))
    definitions[`io.k8s.${type}`] = print(schema, descriptions[type] ?? {}, "");
  for (const { group, versions } of groupVersions) {
    for (const version of versions) {
      for (const { type, kind } of resourcesOf(group, version)) {
        const definition = definitions[`io.k8s.${type}`] as JsonObject;
        definition["x-kubernetes-group-version-kind"] = [{ group, version, kind }];
      }
    }
  }
  const info = { title: "Kubernetes", version: kubernetesRelease };
  return { swagger: "2.0", info, paths: {}, definitions };
}

/** Version 2 has no oneOf: a field that is a number or a string is a string with a special format. */
function print(schema: Schema, texts: Record<string, string>, path: string): JsonObject {
  const { $ref, properties, items, additionalProperties, oneOf, pointer: _ours, ...rest } = schema;
  const { default: _default, ...out } = rest as JsonObject;
  if (texts[path]) out.description = texts[path];
  if (oneOf) Object.assign(out, { type: "string" });
  if ($ref) out.$ref = `#/definitions/io.k8s.${$ref}`;
  if (items) out.items = print(items, texts, `${path}[]`);
  if (additionalProperties) out.additionalProperties = print(additionalProperties, texts, `${path}{}`);
  if (properties) {
    out.properties = Object.fromEntries(
      Object.entries(properties).map(([key, value]) => [
        key,
        print(value, texts, path ? `${path}.${key}` : key),
      ]),
    );
  }
  return out;
}
