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
    if (!Array.isArray(value)) continue;
    if (key.startsWith(deletePrefix)) removeFrom(out, key.slice(deletePrefix.length), value);
    if (key.startsWith(orderPrefix))
      order(out, key.slice(orderPrefix.length), value, fieldOf(schema, key.slice(orderPrefix.length)));
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
  if (!key) return [...patch, ...present.filter((item) => !patch.some((other) => equal(other, item)))];
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

/** Sorts a list by the given order. Items that it does not name keep their place after the item before them. */
function order(out: JsonObject, name: string, wanted: unknown[], field: Schema): void {
  const list = out[name];
  if (!Array.isArray(list)) return;
  const key = field["x-kubernetes-patch-merge-key"];
  const rank = (item: unknown) =>
    wanted.findIndex((entry) =>
      key ? equal((entry as JsonObject)?.[key], (item as JsonObject)?.[key]) : equal(entry, item),
    );
  const ranked = list.filter((item) => rank(item) >= 0).sort((a, b) => rank(a) - rank(b));
  const result: unknown[] = [...ranked];
  list.forEach((item, index) => {
    if (rank(item) >= 0) return;
    const behind = list
      .slice(0, index)
      .reverse()
      .find((other) => result.includes(other));
    result.splice(behind === undefined ? 0 : result.indexOf(behind) + 1, 0, item);
  });
  out[name] = result;
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
