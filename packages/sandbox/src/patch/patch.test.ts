import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { typeNamed } from "../objects/schema.ts";
import { FieldSet } from "./field-set.ts";
import { mergePatch } from "./merge-patch.ts";
import { strategicMergePatch } from "./strategic-merge-patch.ts";
import { compare, fieldsOf, merge } from "./typed-objects.ts";

describe("merge patch", () => {
  // The examples of RFC 7396, appendix A.
  test.each([
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: "foo" }, null, null],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: "b", c: null }, { a: "b" }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])("%j and %j make %j", (target, patch, result) => {
    expect(mergePatch(target, patch)).toEqual(result);
  });
});

describe("strategic merge patch", () => {
  const pod = typeNamed("api.core.v1.Pod");
  const containers = (...names: string[]) => ({
    spec: { containers: names.map((name) => ({ name, image: name })) },
  });

  test("the order of a list can be set", () => {
    const patch = {
      spec: {
        "$setElementOrder/containers": [{ name: "b" }, { name: "a" }],
        containers: [{ name: "a", image: "new" }],
      },
    };
    expect(strategicMergePatch(containers("a", "b"), patch, pod)).toEqual({
      spec: {
        containers: [
          { name: "b", image: "b" },
          { name: "a", image: "new" },
        ],
      },
    });
  });

  test("keys that are not retained go", () => {
    const target = { spec: { volumes: [{ name: "v", emptyDir: {} }] } };
    const patch = {
      spec: { volumes: [{ name: "v", $retainKeys: ["name", "configMap"], configMap: { name: "c" } }] },
    };
    expect(strategicMergePatch(target, patch, pod)).toEqual({
      spec: { volumes: [{ name: "v", configMap: { name: "c" } }] },
    });
  });

  test("an item without its key is refused", () => {
    expect(() =>
      strategicMergePatch(containers("a"), { spec: { containers: [{ image: "x" }] } }, pod),
    ).toThrow("does not contain declared merge key: name");
  });
});

describe("sets of fields", () => {
  const schema = typeNamed("api.core.v1.ConfigMap");
  const configMap = fc.record({
    data: fc.dictionary(fc.constantFrom("a", "b", "c"), fc.constantFrom("1", "2"), { minKeys: 1 }),
    metadata: fc.record({ finalizers: fc.uniqueArray(fc.constantFrom("x", "y", "z"), { minLength: 1 }) }),
  });

  test("written and read again they are the same", () => {
    fc.assert(
      fc.property(configMap, (object) => {
        const set = fieldsOf(object, schema);
        expect(FieldSet.parse(set.toJson()).equals(set)).toBe(true);
      }),
    );
  });

  test("union, intersection and difference fit together", () => {
    fc.assert(
      fc.property(configMap, configMap, (one, two) => {
        const a = fieldsOf(one, schema);
        const b = fieldsOf(two, schema);
        expect(a.difference(b).union(a.intersection(b)).equals(a)).toBe(true);
        expect(a.union(b).difference(b).intersection(b).isEmpty).toBe(true);
      }),
    );
  });

  test("what is merged over an object has its own values there, and nothing else changed", () => {
    fc.assert(
      fc.property(configMap, configMap, (live, applied) => {
        const merged = merge(live, applied, schema);
        expect(merge(merged, applied, schema)).toEqual(merged);
        expect(compare(live, merged, schema).removed.isEmpty).toBe(true);
        expect(compare(live, merged, schema).changed.difference(fieldsOf(applied, schema)).isEmpty).toBe(
          true,
        );
      }),
    );
  });
});
