/**
 * OpenAPI v3 for the served resources: the types as Kubernetes describes them, and the part of the paths that kubectl
 * reads (explain, apply, the check whether the server validates fields).
 */
import { createHash } from "node:crypto";
import type { JsonObject } from "../objects/object.ts";
import { type DiscoveredResource, groupVersions, resourcesOf } from "../objects/resources.ts";
import { allTypes, kubernetesRelease, metaPrefix, readDescriptions, type Schema } from "../objects/schema.ts";
import type { ApiResponse } from "../registry/context.ts";

const documents = new Map<string, string>();

export function openApi(path: string): ApiResponse | undefined {
  if (path === "/openapi/v3") {
    const paths = Object.fromEntries(
      groupVersions.flatMap(({ group, versions }) =>
        versions.map((version) => {
          const root = rootOf(group, version);
          const hash = createHash("sha256")
            .update(`${kubernetesRelease} ${root}`)
            .digest("hex")
            .toUpperCase();
          return [root, { serverRelativeURL: `/openapi/v3/${root}?hash=${hash}` }];
        }),
      ),
    );
    return { type: "object", code: 200, value: { paths }, headers: { "Content-Type": "application/json" } };
  }
  for (const { group, versions } of groupVersions) {
    for (const version of versions) {
      if (path !== `/openapi/v3/${rootOf(group, version)}`) continue;
      const json = documents.get(path) ?? JSON.stringify(document(group, version));
      documents.set(path, json);
      return { type: "json", code: 200, json };
    }
  }
  return undefined;
}

const rootOf = (group: string, version: string) => (group ? `apis/${group}/${version}` : `api/${version}`);
const fullName = (type: string) => `io.k8s.${type}`;

function document(group: string, version: string) {
  const found = resourcesOf(group, version);
  const types = new Set<string>();
  for (const { type } of found) collect(type, types);
  collect(`${metaPrefix}DeleteOptions`, types);
  collect(`${metaPrefix}Status`, types);
  collect(`${metaPrefix}ListMeta`, types);
  const descriptions = readDescriptions();
  const schemas: JsonObject = {};
  for (const type of [...types].sort()) {
    schemas[fullName(type)] = print(allTypes()[type] as Schema, descriptions[type] ?? {}, "");
  }
  for (const resource of found) {
    const name = fullName(resource.type);
    const gvk = { group, version, kind: resource.kind };
    (schemas[name] as JsonObject)["x-kubernetes-group-version-kind"] = [gvk];
    if (resource.stored) schemas[`${name}List`] = listSchema(name, { ...gvk, kind: `${resource.kind}List` });
  }
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: kubernetesRelease },
    paths: Object.assign({}, ...found.map((resource) => pathsOf(resource))),
    components: { schemas },
  };
}

function collect(type: string, types: Set<string>): void {
  if (types.has(type)) return;
  types.add(type);
  JSON.stringify(allTypes()[type], (key, value) => {
    if (key === "$ref") collect(value as string, types);
    return value;
  });
}

/** Converts a compact type to OpenAPI, with descriptions. */
function print(schema: Schema, texts: Record<string, string>, path: string): JsonObject {
  const { $ref, properties, items, additionalProperties, pointer: _ours, ...rest } = schema;
  const out: JsonObject = { ...rest };
  if (texts[path]) out.description = texts[path];
  if ($ref) out.allOf = [{ $ref: `#/components/schemas/${fullName($ref)}` }];
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

function listSchema(item: string, gvk: JsonObject): JsonObject {
  const text = { type: "string" };
  return {
    type: "object",
    required: ["items"],
    properties: {
      apiVersion: text,
      kind: text,
      items: { type: "array", items: { allOf: [{ $ref: `#/components/schemas/${item}` }], default: {} } },
      metadata: {
        allOf: [{ $ref: `#/components/schemas/${fullName(`${metaPrefix}ListMeta`)}` }],
        default: {},
      },
    },
    "x-kubernetes-group-version-kind": [gvk],
  };
}

const parameter = (name: string) => ({ name, in: "query", schema: { type: "string", uniqueItems: true } });
const writeParameters = ["dryRun", "fieldManager", "fieldValidation"].map(parameter);

function pathsOf(resource: DiscoveredResource): JsonObject {
  const { group, version, kind, plural, namespaced, verbs } = resource;
  const collection = `/${rootOf(group, version)}/${namespaced ? "namespaces/{namespace}/" : ""}${plural}`;
  const content = {
    "application/json": { schema: { $ref: `#/components/schemas/${fullName(resource.type)}` } },
  };
  const operation = (action: string, parameters: JsonObject[]) => ({
    parameters,
    responses: { 200: { description: "OK", content } },
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": { group, version, kind },
  });
  const all: Record<string, JsonObject> = {
    [collection]: {
      ...(verbs.includes("list") ? { get: operation("list", []) } : {}),
      post: operation("post", writeParameters),
    },
  };
  if (resource.stored) {
    all[`${collection}/{name}`] = {
      get: operation("get", []),
      put: operation("put", writeParameters),
      patch: operation("patch", [...writeParameters, parameter("force")]),
      delete: operation("delete", [parameter("dryRun")]),
    };
  }
  return all;
}
