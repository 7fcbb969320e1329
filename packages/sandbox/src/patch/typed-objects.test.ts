import fc from "fast-check";
import { expect, test } from "vitest";
import { typeNamed } from "../objects/schema.ts";
import { FieldSet } from "./field-set.ts";
import { compare, fieldsOf, merge } from "./typed-objects.ts";

const schema = typeNamed("api.core.v1.ConfigMap");
const configMap = fc.record({
  data: fc.dictionary(fc.constantFrom("a", "b", "c"), fc.constantFrom("1", "2"), { minKeys: 1 }),
  metadata: fc.record({ finalizers: fc.uniqueArray(fc.constantFrom("x", "y", "z"), { minLength: 1 }) }),
});

test("field sets survive a round trip through JSON", () => {
  fc.assert(
    fc.property(configMap, (object) => {
      const set = fieldsOf(object, schema);
      expect(FieldSet.parse(set.toJson()).equals(set)).toBe(true);
    }),
  );
});

test("union, intersection and difference of field sets are consistent", () => {
  fc.assert(
    fc.property(configMap, configMap, (one, two) => {
      const a = fieldsOf(one, schema);
      const b = fieldsOf(two, schema);
      expect(a.difference(b).union(a.intersection(b)).equals(a)).toBe(true);
      expect(a.union(b).difference(b).intersection(b).isEmpty).toBe(true);
      expect(a.contains(b)).toBe(b.difference(a).isEmpty);
      expect(a.union(b).contains(b)).toBe(true);
    }),
  );
});

test("a merge sets the applied fields and changes no others", () => {
  fc.assert(
    fc.property(configMap, configMap, (live, applied) => {
      const merged = merge(live, applied, schema);
      expect(merge(merged, applied, schema)).toEqual(merged);
      expect(compare(live, merged, schema).removed.isEmpty).toBe(true);
      expect(compare(live, merged, schema).changed.difference(fieldsOf(applied, schema)).isEmpty).toBe(true);
    }),
  );
});
