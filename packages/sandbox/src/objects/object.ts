/**
 * The shape that all API objects share. Stored objects are immutable: to change one, make a copy. That is why the
 * store, its history and all watchers can share them.
 */

export type JsonObject = { [key: string]: unknown };

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  manager?: string;
  operation?: "Apply" | "Update";
  apiVersion?: string;
  time?: string;
  fieldsType?: string;
  fieldsV1?: JsonObject;
  subresource?: string;
}

export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
}

export interface ApiObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Sets a key that may come from a client. A plain assignment to `__proto__` would change the prototype. */
export function put(target: JsonObject, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[key] = value;
  }
}

/** Reads a path of fields. Undefined if one of them is not set. */
export function at(value: unknown, ...path: string[]): unknown {
  let current = value;
  for (const key of path) {
    if (!isObject(current) || !Object.hasOwn(current, key)) return undefined;
    current = current[key];
  }
  return current;
}

/** Compares JSON values. An undefined field equals an absent one. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => equal(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  let more = 0;
  for (const key of Object.keys(a)) {
    if (a[key] === undefined) continue;
    if (!Object.hasOwn(b, key) || !equal(a[key], b[key])) return false;
    more++;
  }
  for (const key of Object.keys(b)) if (b[key] !== undefined) more--;
  return more === 0;
}

/** New values of metadata. Undefined removes a field. */
type MetadataChange = { [Field in keyof ObjectMeta]?: ObjectMeta[Field] | undefined };

/** A copy with changed metadata, with its fields in the order of Kubernetes. */
export function withMetadata(object: ApiObject, change: MetadataChange): ApiObject {
  const { kind, apiVersion } = object;
  const copy: ApiObject = { kind, apiVersion, metadata: withoutUndefined({ ...object.metadata, ...change }) };
  for (const key of Object.keys(object)) if (!Object.hasOwn(copy, key)) copy[key] = object[key];
  return copy;
}

/** A new object, because V8 is slow with an object after a `delete`, and stored objects are read often. */
function withoutUndefined(object: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const key of Object.keys(object)) if (object[key] !== undefined) copy[key] = object[key];
  return copy;
}

/** A value as text for a message. String() is not safe: a value from a client can have its own toString. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
