/**
 * Strategic merge patch, the format of Kubernetes. It is a merge patch that merges lists by key if their type says
 * so, and supports directives: $patch, $retainKeys, $setElementOrder/…, $deleteFromPrimitiveList/….
 */
import { equal, isObject, type JsonObject, put } from "../objects/object.ts";
import { resolve, type Schema } from "../objects/schema.ts";
import { badRequest } from "../objects/status.ts";

const orderPrefix = "$setElementOrder/";
const deletePrefix = "$deleteFromPrimitiveList/";

export function strategicMergePatch(target: unknown, patch: unknown, schema: Schema): unknown {
  if (!isObject(patch)) throw badRequest("error decoding patch: expected an object");
  return mergeObjects(isObject(target) ? target : {}, patch, resolve(schema));
}

function mergeObjects(target: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
  if (patch.$patch === "replace") return withoutDirectives(patch, schema) as JsonObject;
  if (patch.$patch === "delete") return {};
  const out: JsonObject = { ...target };
  if (Array.isArray(patch.$retainKeys)) {
    for (const key of Object.keys(out)) if (!patch.$retainKeys.includes(key)) delete out[key];
  }
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith("$")) continue;
    const field = fieldOf(schema, key);
    if (value === null) delete out[key];
    else put(out, key, mergeField(Object.hasOwn(out, key) ? out[key] : undefined, value, field));
  }
  for (const [key, value] of Object.entries(patch)) {
    if (Array.isArray(value) && key.startsWith(deletePrefix))
      removeFrom(out, key.slice(deletePrefix.length), value);
  }
  for (const key of Object.keys(out)) {
    const field = fieldOf(schema, key);
    if (Array.isArray(out[key]) && merges(field)) reorder(out, key, { target, patch, field });
  }
  return out;
}

function fieldOf(schema: Schema, key: string): Schema {
  const { properties, additionalProperties } = schema;
  return (properties && Object.hasOwn(properties, key) ? properties[key] : additionalProperties) ?? {};
}

const merges = (field: Schema) => (field["x-kubernetes-patch-strategy"] ?? "").split(",").includes("merge");

function mergeField(target: unknown, patch: unknown, field: Schema): unknown {
  if (isObject(patch)) {
    const replaces = (field["x-kubernetes-patch-strategy"] ?? "").split(",").includes("replace");
    return replaces
      ? withoutDirectives(patch, resolve(field))
      : mergeObjects(isObject(target) ? target : {}, patch, resolve(field));
  }
  if (!Array.isArray(patch)) return patch;
  if (!merges(field)) return patch.map((item) => withoutDirectives(item, resolve(field.items ?? {})));
  const present = Array.isArray(target) ? target : [];
  const key = field["x-kubernetes-patch-merge-key"];
  if (!key) return [...present, ...patch.filter((item) => !present.some((other) => equal(other, item)))];
  return mergeList(present, patch as JsonObject[], key, resolve(field.items ?? {}));
}

function mergeList(present: unknown[], patch: JsonObject[], key: string, items: Schema): unknown[] {
  if (patch.some((item) => item?.$patch === "replace" && item[key] === undefined)) {
    return patch.filter((item) => item.$patch !== "replace");
  }
  const out = [...present] as JsonObject[];
  for (const item of patch) {
    if (!isObject(item) || item[key] === undefined) {
      throw badRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`);
    }
    const index = out.findIndex((other) => equal(other[key], item[key]));
    if (item.$patch === "delete") {
      if (index >= 0) out.splice(index, 1);
    } else if (index >= 0) out[index] = mergeObjects(out[index] as JsonObject, item, items);
    else out.push(withoutDirectives(item, items) as JsonObject);
  }
  return out;
}

function removeFrom(out: JsonObject, name: string, values: unknown[]): void {
  if (!Array.isArray(out[name])) return;
  out[name] = (out[name] as unknown[]).filter((item) => !values.some((value) => equal(value, item)));
}

interface Merge {
  target: JsonObject;
  patch: JsonObject;
  field: Schema;
}

/**
 * Orders a merged list as Kubernetes does. The items that the patch names come in the order of the patch, or of its
 * directive. Each item that only the server has comes before the first of them that it preceded on the server.
 */
function reorder(out: JsonObject, name: string, { target, patch, field }: Merge): void {
  const directive = patch[orderPrefix + name];
  const given = Array.isArray(directive) ? directive : patch[name];
  if (!Array.isArray(given)) return;
  const key = field["x-kubernetes-patch-merge-key"];
  const identity = (item: unknown) => JSON.stringify(key ? (item as JsonObject)?.[key] : item);
  const places = (list: unknown) =>
    new Map(((Array.isArray(list) ? list : []) as unknown[]).map((item, index) => [identity(item), index]));
  const wanted = places(given);
  const before = places(target[name]);
  const place = (item: unknown, order: Map<string, number>) => order.get(identity(item)) ?? -1;

  const items = out[name] as unknown[];
  const named = items
    .filter((item) => wanted.has(identity(item)))
    .sort((a, b) => place(a, wanted) - place(b, wanted));
  const others = items.filter((item) => !wanted.has(identity(item)));
  const result: unknown[] = [];
  for (const item of named) {
    const at = place(item, before);
    while (at >= 0 && others.length > 0 && place(others[0], before) < at) result.push(others.shift());
    result.push(item);
  }
  out[name] = [...result, ...others];
}

/** Removes directives and nulls from a new value. */
function withoutDirectives(value: unknown, schema: Schema): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutDirectives(item, schema));
  if (!isObject(value)) return value;
  return mergeObjects(
    {},
    Object.fromEntries(Object.entries(value).filter(([key]) => key !== "$patch")),
    schema,
  );
}
