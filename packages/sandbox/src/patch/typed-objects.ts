/**
 * Lists, compares and merges the fields of objects according to their type. The type decides whether a list is merged
 * by key, merged as a set, or replaced (x-kubernetes-list-type). Follows structured-merge-diff.
 */
import { equal, isObject, type JsonObject, put } from "../objects/object.ts";
import { resolve, type Schema } from "../objects/schema.ts";
import { FieldSet, readableElement } from "./field-set.ts";

/** How a field is divided into parts. An "atom" is a single value. */
type Shape =
  | { type: "fields"; below(key: string): Schema | undefined; always(key: string): boolean }
  | { type: "keyed"; keys: string[]; items: Schema }
  | { type: "set" }
  | { type: "atom" };

/** Each write asks for the shapes of the same fields again. */
const shapes = new WeakMap<Schema, Shape>();

function shapeOf(field: Schema): Shape {
  let shape = shapes.get(field);
  if (shape === undefined) {
    shape = findShape(field);
    shapes.set(field, shape);
  }
  return shape;
}

function findShape(field: Schema): Shape {
  const schema = resolve(field);
  const mapType = field["x-kubernetes-map-type"] ?? schema["x-kubernetes-map-type"];
  if (schema.type === "array") {
    const type = field["x-kubernetes-list-type"];
    if (type === "set") return { type };
    const keys = field["x-kubernetes-list-map-keys"];
    return type === "map" && keys ? { type: "keyed", keys, items: schema.items as Schema } : { type: "atom" };
  }
  if (mapType === "atomic") return { type: "atom" };
  if (schema.properties) {
    const { properties, required = [] } = schema;
    return {
      type: "fields",
      below: (key) => (Object.hasOwn(properties, key) ? properties[key] : undefined),
      always: (key) => required.includes(key),
    };
  }
  if (schema.additionalProperties) {
    const values = schema.additionalProperties;
    return { type: "fields", below: () => values, always: () => false };
  }
  return { type: "atom" };
}

/** A key that an item omits has its default, for example `protocol` of a port. */
function keyElement(item: unknown, keys: string[], items: Schema): string {
  const { properties } = resolve(items);
  const pairs = [...keys]
    .sort()
    .map((key) => [key, (item as JsonObject)?.[key] ?? properties?.[key]?.default]);
  return `k:${JSON.stringify(Object.fromEntries(pairs))}`;
}
const valueElement = (value: unknown) => `v:${JSON.stringify(value)}`;

/** The parts of a value by path element, in order. Undefined if the value is not divided. */
function partsOf(value: unknown, shape: Shape): Map<string, unknown> | undefined {
  if (shape.type === "fields" && isObject(value)) {
    const parts = new Map<string, unknown>();
    for (const key of Object.keys(value)) parts.set(`f:${key}`, value[key]);
    return parts;
  }
  if (shape.type === "keyed" && Array.isArray(value)) {
    return new Map(value.map((item) => [keyElement(item, shape.keys, shape.items), item]));
  }
  if (shape.type === "set" && Array.isArray(value))
    return new Map(value.map((item) => [valueElement(item), item]));
  return undefined;
}

/** The lists that have two items with one key, as `path: duplicate entries for key …`. */
export function duplicateItems(value: unknown, schema: Schema, path = ""): string[] {
  const shape = shapeOf(schema);
  const problems: string[] = [];
  if (Array.isArray(value) && (shape.type === "keyed" || shape.type === "set")) {
    const seen = new Set<string>();
    for (const item of value) {
      const element = shape.type === "set" ? valueElement(item) : keyElement(item, shape.keys, shape.items);
      if (seen.has(element)) problems.push(`${path}: duplicate entries for key ${readableElement(element)}`);
      seen.add(element);
    }
  }
  for (const [element, part] of partsOf(value, shape) ?? [])
    problems.push(...duplicateItems(part, schemaBelow(shape, element), path + readableElement(element)));
  return problems;
}

const atomSchema: Schema = {};

function schemaBelow(shape: Shape, element: string): Schema {
  if (shape.type === "fields") return shape.below(element.slice(2)) ?? atomSchema;
  return shape.type === "keyed" ? shape.items : atomSchema;
}

/** All fields that an object sets. */
export function fieldsOf(value: unknown, schema: Schema): FieldSet {
  const set = new FieldSet();
  const shape = shapeOf(schema);
  const parts = partsOf(value, shape);
  if (!parts || parts.size === 0) {
    set.member = true;
    return set;
  }
  for (const [element, part] of parts) {
    const below = fieldsOf(part, schemaBelow(shape, element));
    if (shape.type !== "fields") below.member = true;
    set.children.set(element, below);
  }
  return set;
}

interface Difference {
  /** Fields that were added or have another value. */
  changed: FieldSet;
  removed: FieldSet;
}

export function compare(old: unknown, value: unknown, schema: Schema): Difference {
  const out: Difference = { changed: new FieldSet(), removed: new FieldSet() };
  compareInto(old, value, schema, out.changed, out.removed, true);
  return out;
}

function compareInto(
  old: unknown,
  value: unknown,
  schema: Schema,
  changed: FieldSet,
  removed: FieldSet,
  always: boolean,
): void {
  if (old === value) return;
  const shape = shapeOf(schema);
  if (shape.type === "fields" && isObject(old) && isObject(value)) {
    compareFields(old, value, shape, changed, removed);
    return;
  }
  const before = partsOf(old, shape);
  const after = partsOf(value, shape);
  if ((old !== undefined && !before) || (value !== undefined && !after)) {
    if (value === undefined) removed.member = true;
    else if (!equal(old, value)) changed.member = true;
    return;
  }
  // A field that is always printed counts as present even when it is empty.
  if (!before && !always) changed.member = true;
  if (!after && !always) removed.member = true;
  for (const element of new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])]))
    compareElement(shape, element, before?.get(element), after?.get(element), changed, removed);
}

/** Most of what a write compares: two objects with the same fields, few of them changed. It needs no maps of the parts. */
function compareFields(
  old: JsonObject,
  value: JsonObject,
  shape: Shape,
  changed: FieldSet,
  removed: FieldSet,
): void {
  for (const key of Object.keys(old)) {
    const part = Object.hasOwn(value, key) ? value[key] : undefined;
    if (old[key] !== part) compareElement(shape, `f:${key}`, old[key], part, changed, removed);
  }
  for (const key of Object.keys(value))
    if (!Object.hasOwn(old, key)) compareElement(shape, `f:${key}`, undefined, value[key], changed, removed);
}

function compareElement(
  shape: Shape,
  element: string,
  old: unknown,
  value: unknown,
  changed: FieldSet,
  removed: FieldSet,
): void {
  const below = { changed: new FieldSet(), removed: new FieldSet() };
  const keeps = shape.type === "fields" && shape.always(element.slice(2));
  compareInto(old, value, schemaBelow(shape, element), below.changed, below.removed, keeps);
  if (!below.changed.isEmpty) changed.children.set(element, below.changed);
  if (!below.removed.isEmpty) removed.children.set(element, below.removed);
}

/** Merges `over` into `base`. Where both have a value, the value of `over` wins. */
export function merge(base: unknown, over: unknown, schema: Schema): unknown {
  const shape = shapeOf(schema);
  const before = partsOf(base, shape);
  const after = partsOf(over, shape);
  if (!before || !after) return over;
  const merged = new Map<string, unknown>();
  for (const [element, part] of before) {
    merged.set(
      element,
      after.has(element) ? merge(part, after.get(element), schemaBelow(shape, element)) : part,
    );
  }
  for (const [element, part] of after) if (!merged.has(element)) merged.set(element, part);
  return assemble(shape, merged);
}

/** Removes fields and everything below them. A field stays if `keep` has fields below it. */
export function without(value: unknown, fields: FieldSet, keep: FieldSet, schema: Schema): unknown {
  const shape = shapeOf(schema);
  const parts = partsOf(value, shape);
  if (!parts) return value;
  const left = new Map<string, unknown>();
  for (const [element, part] of parts) {
    const dropped = fields.children.get(element);
    const kept = keep.children.get(element);
    if (!dropped) left.set(element, part);
    else if (!dropped.member || kept) {
      left.set(element, without(part, dropped, kept ?? new FieldSet(), schemaBelow(shape, element)));
    }
  }
  return assemble(shape, left);
}

function assemble(shape: Shape, parts: Map<string, unknown>): unknown {
  if (shape.type !== "fields") return [...parts.values()];
  const out: JsonObject = {};
  for (const [element, part] of parts) put(out, element.slice(2), part);
  return out;
}
