/**
 * The shape that all API objects share. Objects are treated as immutable from the moment they are stored: whoever
 * wants another one makes a copy, which is what allows the store, its history and all watchers to share them.
 */

export type JsonObject = { [key: string]: unknown };

interface OwnerReference {
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

/** Sets a key that may come from outside: assigning `__proto__` would change the prototype instead. */
export function put(target: JsonObject, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[key] = value;
  }
}

/** Reads a path of fields; undefined as soon as one of them is not there. */
export function at(value: unknown, ...path: string[]): unknown {
  let current = value;
  for (const key of path) {
    if (!isObject(current) || !Object.hasOwn(current, key)) return undefined;
    current = current[key];
  }
  return current;
}

/** Equality of JSON values; a field that is undefined counts as absent. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => equal(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const present = (object: JsonObject) => Object.keys(object).filter((key) => object[key] !== undefined);
  const keys = present(a);
  if (keys.length !== present(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]));
}

/** A copy with another metadata, in the order in which Kubernetes prints objects. */
export function withMetadata(object: ApiObject, change: Partial<ObjectMeta>): ApiObject {
  const { kind, apiVersion, metadata, ...rest } = object;
  const merged: JsonObject = { ...metadata, ...change };
  for (const key of Object.keys(merged)) if (merged[key] === undefined) delete merged[key];
  return { kind, apiVersion, metadata: merged, ...rest };
}

/** A value for a message. Not String(): what a client sends may have a toString of its own. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
