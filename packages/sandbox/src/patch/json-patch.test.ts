import { expect, test } from "vitest";
import { jsonPatch } from "./json-patch.ts";

test.each([
  ["add a field", [{ op: "add", path: "/b", value: 2 }], { a: [1, 2], b: 2 }],
  ["insert into a list", [{ op: "add", path: "/a/1", value: 9 }], { a: [1, 9, 2] }],
  ["append to a list", [{ op: "add", path: "/a/-", value: 9 }], { a: [1, 2, 9] }],
  ["insert before the end of a list", [{ op: "add", path: "/a/-2", value: 9 }], { a: [1, 9, 2] }],
  ["remove the last item", [{ op: "remove", path: "/a/-1" }], { a: [1] }],
  ["replace a field that does not exist", [{ op: "replace", path: "/b", value: 2 }], { a: [1, 2], b: 2 }],
  ["replace the whole document", [{ op: "replace", path: "", value: { c: 1 } }], { c: 1 }],
  ["move", [{ op: "move", from: "/a/0", path: "/b" }], { a: [2], b: 1 }],
  ["copy", [{ op: "copy", from: "/a", path: "/b" }], { a: [1, 2], b: [1, 2] }],
  ["test that a field does not exist", [{ op: "test", path: "/b", value: null }], { a: [1, 2] }],
  ["escape a slash and a tilde", [{ op: "add", path: "/~1~0", value: 1 }], { a: [1, 2], "/~": 1 }],
])("%s", (_name, patch, expected) => {
  expect(jsonPatch({ a: [1, 2] }, patch)).toEqual(expected);
});

test.each([
  [{ op: "add", path: "", value: {} }],
  [{ op: "add", path: "/a/3", value: 1 }],
  [{ op: "add", path: "/b/c", value: 1 }],
  [{ op: "remove", path: "/b" }],
  [{ op: "replace", path: "/a/2", value: 1 }],
  [{ op: "test", path: "/a/0", value: "1" }],
  [{ op: "move", from: "/b", path: "/c" }],
  [{ op: "copy", from: "/b/c", path: "/c" }],
  [{ op: "none", path: "/a" }],
  [{ op: "add", value: 1 }],
  ["add"],
])("%j does not apply", (operation) => {
  expect(() => jsonPatch({ a: [1, 2] }, [operation])).toThrow("rejected our request");
});

test.each(["/hasOwnProperty/call", "/constructor/prototype/x", "/__proto__/x", "/toString/x"])(
  "the path %s does not lead out of the object",
  (path) => {
    expect(() => jsonPatch({}, [{ op: "add", path, value: null }])).toThrow("rejected our request");
    expect(() => jsonPatch({}, [{ op: "copy", from: path, path: "/a" }])).toThrow("rejected our request");
    expect(Object.hasOwn({ a: 1 }, "a")).toBe(true);
    expect(Object.prototype).not.toHaveProperty("x");
  },
);

test("an inherited name can be the name of an own field", () => {
  const patched = jsonPatch({}, [
    { op: "add", path: "/hasOwnProperty", value: { a: 1 } },
    { op: "add", path: "/hasOwnProperty/call", value: 2 },
    { op: "add", path: "/__proto__", value: { b: 1 } },
  ]);
  expect(JSON.stringify(patched)).toBe('{"hasOwnProperty":{"a":1,"call":2},"__proto__":{"b":1}}');
});

test("a patch that copies more than 3 MiB is rejected at once", () => {
  const double = { op: "copy", from: "/a", path: "/a/-" };
  const patch = [{ op: "add", path: "/a", value: ["x".repeat(1000)] }, ...Array(24).fill(double)];
  const before = performance.now();
  expect(() => jsonPatch({}, patch)).toThrow("rejected our request");
  expect(performance.now() - before).toBeLessThan(1000);
  expect(() => jsonPatch({}, patch.slice(0, 10))).not.toThrow();
});
