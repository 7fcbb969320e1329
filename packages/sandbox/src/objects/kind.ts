/**
 * What a kind is. A new one is a declaration of this shape in this folder, and a line in index.ts: everything else
 * (verbs, watch, patches, discovery, OpenAPI, tables, RBAC) follows from it and from the type in gen/types.json.
 */
import type { NameRule } from "./name-rules.ts";
import type { ApiObject, JsonObject } from "./object.ts";
import type { FieldError } from "./status.ts";

export interface Column {
  name: string;
  /** @default "string" */
  type?: "string" | "integer" | "boolean" | "date";
  format?: string;
  /** 1: only with `-o wide`. @default 0 */
  priority?: number;
  description?: string;
  /** `age` turns a time into what kubectl prints for it. */
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
  /** What a name may be. */
  name: NameRule;
  /** Whether a PUT of an object that is not there creates it. @default false */
  createOnUpdate?: boolean;
  /** Whether a PUT may leave the resourceVersion out. @default true */
  unconditionalUpdate?: boolean;
  /** Whether spec and status are written through different paths. @default false */
  status?: boolean;
  /** Whether metadata.generation counts changes of the spec. @default false */
  generation?: boolean;
  /** Sent with every answer, where clients should use something else. */
  warning?: string;
  columns: Column[];
  /** Fields that a field selector may name, besides metadata.name and metadata.namespace. */
  selectable?: Record<string, (object: ApiObject) => string>;
  /** Fills in what was left out. `old` is absent on create. */
  defaults?(object: ApiObject, old: ApiObject | undefined): ApiObject;
  validate?(object: ApiObject, old: ApiObject | undefined): FieldError[];
  /** Seconds that a deleted object stays, so that its node can stop it; 0 to remove it at once. */
  graceSeconds?(object: ApiObject, asked: number | undefined): number;
  /** Another version of objects that are stored in the form of another kind. */
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

/** Reads a field as an object, so that the fields below it can be asked for. */
export const section = (object: ApiObject, name: string) => (object[name] ?? {}) as JsonObject;

export const joined = (values: unknown[]) => (values.length > 0 ? values.join(",") : "<none>");

export function formatLabels(labels: unknown): string {
  const pairs = Object.entries((labels ?? {}) as Record<string, string>).map(
    ([key, value]) => `${key}=${value}`,
  );
  return joined(pairs.sort());
}
