/**
 * Sets of fields, in the notation of metadata.managedFields: `f:name` is a field, `k:{"name":"x"}` is the list item
 * with these keys, and `v:"x"` is a member of a set. A node can be a member itself ("."), or only contain members.
 */
import { isObject, type JsonObject } from "../objects/object.ts";

export class FieldSet {
  /** Whether the field itself is in the set. */
  member = false;
  readonly children = new Map<string, FieldSet>();

  static parse(value: unknown): FieldSet {
    const set = new FieldSet();
    if (!isObject(value)) return set;
    for (const [element, below] of Object.entries(value)) {
      if (element === ".") set.member = true;
      else set.children.set(element, FieldSet.parse(below));
    }
    // A field without children is a member itself.
    for (const child of set.children.values()) if (child.children.size === 0) child.member = true;
    return set;
  }

  /** The form of fieldsV1. */
  toJson(): JsonObject {
    const out: JsonObject = {};
    if (this.member && this.children.size > 0) out["."] = {};
    for (const element of [...this.children.keys()].sort())
      out[element] = (this.children.get(element) as FieldSet).toJson();
    return out;
  }

  get isEmpty(): boolean {
    return !this.member && this.children.size === 0;
  }

  contains(other: FieldSet): boolean {
    if (other.member && !this.member) return false;
    for (const [element, child] of other.children)
      if (!this.children.get(element)?.contains(child)) return false;
    return true;
  }

  union(other: FieldSet): FieldSet {
    return this.#combine(other, (a, b) => a || b, true);
  }

  intersection(other: FieldSet): FieldSet {
    return this.#combine(other, (a, b) => a && b, false);
  }

  /** The fields that are not in `other`. If `deep`, a member of `other` also removes everything below it. */
  difference(other: FieldSet, deep = false): FieldSet {
    const out = new FieldSet();
    if (deep && other.member) return out;
    out.member = this.member && !other.member;
    for (const [element, child] of this.children) {
      const theirs = other.children.get(element);
      const left = theirs ? child.difference(theirs, deep) : child;
      if (!left.isEmpty) out.children.set(element, left);
    }
    return out;
  }

  equals(other: FieldSet): boolean {
    return this.difference(other).isEmpty && other.difference(this).isEmpty;
  }

  /** Readable paths of the members: `.spec.containers[name="x"].image`. */
  paths(path = ""): string[] {
    const own = this.member && path !== "" ? [path] : [];
    const elements = [...this.children.keys()].sort();
    return [
      ...own,
      ...elements.flatMap((element) =>
        (this.children.get(element) as FieldSet).paths(path + readableElement(element)),
      ),
    ];
  }

  #combine(other: FieldSet, decide: (a: boolean, b: boolean) => boolean, all: boolean): FieldSet {
    const empty = new FieldSet();
    const out = new FieldSet();
    out.member = decide(this.member, other.member);
    const elements = new Set([...this.children.keys(), ...(all ? other.children.keys() : [])]);
    for (const element of elements) {
      const child = (this.children.get(element) ?? empty).#combine(
        other.children.get(element) ?? empty,
        decide,
        all,
      );
      if (!child.isEmpty) out.children.set(element, child);
    }
    return out;
  }
}

/** A path element as error messages show it. */
export function readableElement(element: string): string {
  const text = element.slice(2);
  if (element.startsWith("f:")) return `.${text}`;
  if (element.startsWith("v:")) return `[=${text}]`;
  const keys = JSON.parse(text) as JsonObject;
  return `[${Object.entries(keys)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join(",")}]`;
}
