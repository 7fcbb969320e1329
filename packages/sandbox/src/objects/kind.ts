/**
 * The declaration of a kind. To add a kind, declare it in kinds/ and list it in kinds.ts. Everything else (verbs,
 * watch, patches, discovery, OpenAPI, tables, RBAC) follows from the declaration and from the type in gen/types.json.
 */
import type { NameRule } from "./name-rules.ts";
import type { ApiObject, JsonObject } from "./object.ts";
import type { FieldError } from "./status.ts";

export interface Column {
  name: string;
  /** @default "string" */
  type?: "string" | "integer" | "boolean" | "date";
  format?: string;
  /** 1 shows the column only with `-o wide`. @default 0 */
  priority?: number;
  description?: string;
  /** `age` formats the age of a time as kubectl does. */
  cell(object: ApiObject, age: (time: unknown) => string): unknown;
}

export interface Kind {
  group: string;
  version: string;
  kind: string;
  plural: string;
  singular: string;
  shortNames?: string[];
  categories?: string[];
  namespaced: boolean;
  /** Name of the type in gen/types.json. */
  type: string;
  /** Keys are /registry/<storage>/[namespace/]name. */
  storage: string;
  /** Rule for names. */
  name: NameRule;
  /** Whether a PUT creates an object that does not exist. @default false */
  createOnUpdate?: boolean;
  /** Whether a PUT may omit the resourceVersion. @default true */
  unconditionalUpdate?: boolean;
  /** Whether the kind has a status subresource. @default false */
  status?: boolean;
  /** The metadata that a write to the status cannot change. @default none */
  statusKeeps?: readonly ("metadata" | "labels" | "ownerReferences")[];
  /** Whether metadata.generation counts changes of the spec. @default false */
  generation?: boolean;
  /** Deprecation warning to send with every response. */
  warning?: string;
  columns: Column[];
  /** Fields that field selectors can use, besides metadata.name and metadata.namespace. */
  selectable?: Record<string, (object: ApiObject) => string>;
  /** Fills in defaults. `old` is undefined on create. */
  defaults?(object: ApiObject, old: ApiObject | undefined): ApiObject;
  validate?(object: ApiObject, old: ApiObject | undefined): FieldError[];
  /**
   * Seconds between the deletion of an object and its removal, so that a node can stop it. 0 removes it immediately.
   */
  graceSeconds?(object: ApiObject, asked: number | undefined): number;
  /** Converts from and to the stored form, for a kind whose objects are stored as another kind. */
  convert?: { fromStored(object: ApiObject): ApiObject; toStored(object: ApiObject): ApiObject };
}

export function apiVersion({ group, version }: { group: string; version: string }): string {
  return group ? `${group}/${version}` : version;
}

export function keyOf(kind: Kind, namespace: string, name: string): string {
  return kind.namespaced
    ? `/registry/${kind.storage}/${namespace}/${name}`
    : `/registry/${kind.storage}/${name}`;
}

export function prefixOf(kind: Kind, namespace: string): string {
  return kind.namespaced && namespace
    ? `/registry/${kind.storage}/${namespace}/`
    : `/registry/${kind.storage}/`;
}

export const nameColumn: Column = {
  name: "Name",
  format: "name",
  description: "Name must be unique within a namespace.",
  cell: (object) => object.metadata.name,
};

export const ageColumn: Column = {
  name: "Age",
  description: "How long ago the object was created.",
  cell: (object, age) => age(object.metadata.creationTimestamp),
};

/** Reads a field as an object. Returns an empty object if it is not set. */
export const section = (object: ApiObject, name: string) => (object[name] ?? {}) as JsonObject;

export const joined = (values: unknown[]) => (values.length > 0 ? values.join(",") : "<none>");

export function formatLabels(labels: unknown): string {
  const pairs = Object.entries((labels ?? {}) as Record<string, string>).map(
    ([key, value]) => `${key}=${value}`,
  );
  return joined(pairs.sort());
}
