/**
 * The types of Kubernetes, from its OpenAPI documents: fields, defaults, and how lists are merged. They are in
 * gen/types.json, which scripts/generate-schema.mjs generates. The file is read on first use, to keep the start fast.
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
  /** Whether an empty value is kept, as in `holderIdentity: ""`. Kubernetes omits empty values of other scalars. */
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

/** The Kubernetes release of the types. */
export const kubernetesRelease = "v1.36.3";

export function allTypes(): Record<string, Schema> {
  return file().types;
}

/** Descriptions by type and path, for OpenAPI only. */
export function readDescriptions(): Record<string, Record<string, string>> {
  return JSON.parse(readFileSync(new URL("../../gen/descriptions.json", import.meta.url), "utf8"));
}

/** Finds a type by its name, for example `api.coordination.v1.Lease`. */
export function typeNamed(name: string): Schema {
  const schema = file().types[name];
  if (schema === undefined) throw new Error(`no type ${name} in gen/types.json`);
  return schema;
}

/** Follows a reference. Properties beside the reference (list type, default) belong to the field, not to the type. */
export function resolve(schema: Schema): Schema {
  return schema.$ref ? typeNamed(schema.$ref) : schema;
}

export const metaPrefix = "apimachinery.pkg.apis.meta.v1.";
