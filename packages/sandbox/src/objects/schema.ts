/**
 * The types of Kubernetes, as its own OpenAPI describes them (gen/types.json, made by scripts/generate-schema.mjs):
 * what fields there are, their defaults, and how lists merge. Read on first use, since start-up must not pay for it.
 */
import { readFileSync } from "node:fs";

export interface Schema {
  $ref?: string;
  type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  format?: string;
  default?: unknown;
  required?: string[];
  enum?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema;
  items?: Schema;
  oneOf?: Schema[];
  /** Whether an empty value is kept, as of `holderIdentity: ""`. Of other scalars Kubernetes leaves it out. */
  pointer?: boolean;
  "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  "x-kubernetes-list-map-keys"?: string[];
  "x-kubernetes-map-type"?: "atomic" | "granular";
  "x-kubernetes-patch-strategy"?: string;
  "x-kubernetes-patch-merge-key"?: string;
  "x-kubernetes-unions"?: unknown;
}

interface SchemaFile {
  release: string;
  types: Record<string, Schema>;
}

let loaded: SchemaFile | undefined;

function file(): SchemaFile {
  loaded ??= JSON.parse(readFileSync(new URL("../../gen/types.json", import.meta.url), "utf8")) as SchemaFile;
  return loaded;
}

/** The release of Kubernetes that the types are from. */
export const kubernetesRelease = "v1.36.3";

export function allTypes(): Record<string, Schema> {
  return file().types;
}

/** Descriptions by type and path, for OpenAPI only. */
export function readDescriptions(): Record<string, Record<string, string>> {
  return JSON.parse(readFileSync(new URL("../../gen/descriptions.json", import.meta.url), "utf8"));
}

/** A type by its name, e.g. `api.coordination.v1.Lease`. */
export function typeNamed(name: string): Schema {
  const schema = file().types[name];
  if (schema === undefined) throw new Error(`no type ${name} in gen/types.json`);
  return schema;
}

/** Follows a reference. What stands beside it (list type, default) is about the field, not the type. */
export function resolve(schema: Schema): Schema {
  return schema.$ref ? typeNamed(schema.$ref) : schema;
}

export const metaPrefix = "apimachinery.pkg.apis.meta.v1.";
