import { expect, it } from "vitest";
import { ago, deployment, replicaSet } from "../../testing/fixtures.ts";
import { newSetFor } from "./new-set.ts";
import { findNewSet, templateHash } from "./template.ts";

it("finds the oldest ReplicaSet with the template, whatever its hash label is", () => {
  const older = replicaSet("older", [0], { metadata: { creationTimestamp: ago(9) } });
  const newer = replicaSet("newer", [3], { metadata: { creationTimestamp: ago(1) } });
  const other = replicaSet("other", [3], { image: "main:2" });
  expect(findNewSet(deployment(), [other, newer, older])?.metadata.name).toBe("older");
  expect(findNewSet(deployment(), [other])).toBeUndefined();
});

it("puts a hash of the template into name, labels and selector", () => {
  const wanted = deployment();
  const hash = templateHash(wanted.spec.template, undefined);
  const { metadata, spec } = newSetFor(wanted, 2, 1n);
  expect(metadata.name).toBe(`web-${hash}`);
  expect(spec.selector.matchLabels).toEqual({ app: "web", "pod-template-hash": hash });
  expect(spec.template.metadata?.labels).toEqual({ app: "web", "pod-template-hash": hash });
  expect(spec.replicas).toBe(2);
});

it("uses another hash after a collision", () => {
  const { template } = deployment().spec;
  expect(templateHash(template, 1)).not.toBe(templateHash(template, undefined));
});
