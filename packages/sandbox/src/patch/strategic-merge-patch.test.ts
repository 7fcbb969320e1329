import { expect, test } from "vitest";
import { typeNamed } from "../objects/schema.ts";
import { strategicMergePatch } from "./strategic-merge-patch.ts";

const pod = typeNamed("api.core.v1.Pod");
const containers = (...names: string[]) => ({
  spec: { containers: names.map((name) => ({ name, image: name })) },
});

test("$setElementOrder sets the order of a list", () => {
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

test("$retainKeys removes all other keys", () => {
  const target = { spec: { volumes: [{ name: "v", emptyDir: {} }] } };
  const patch = {
    spec: { volumes: [{ name: "v", $retainKeys: ["name", "configMap"], configMap: { name: "c" } }] },
  };
  expect(strategicMergePatch(target, patch, pod)).toEqual({
    spec: { volumes: [{ name: "v", configMap: { name: "c" } }] },
  });
});

test("an item without its merge key is rejected", () => {
  expect(() => strategicMergePatch(containers("a"), { spec: { containers: [{ image: "x" }] } }, pod)).toThrow(
    "does not contain declared merge key: name",
  );
});
