import { expect, it } from "vitest";
import { pod, replicaSet } from "../testing/fixtures.ts";
import { claimsOf, controllerReference } from "./owner.ts";
import { replicaSets } from "./resources.ts";

const owner = replicaSet("web", [1]);
const labels = { app: "web", "pod-template-hash": "web" };
const reference = controllerReference(replicaSets, owner);
const another = { ...reference, uid: "another" };
const deletionTimestamp = "2030-01-01T00:00:00Z";

it.each([
  ["its own pod is owned", { labels, ownerReferences: [reference] }, {}, "owned"],
  ["its own pod with other labels is released", { labels: {}, ownerReferences: [reference] }, {}, "release"],
  ["an orphan with its labels is adopted", { labels }, {}, "adopt"],
  ["an orphan that is being deleted is not adopted", { labels, deletionTimestamp }, {}, "none"],
  ["a pod of another controller is left alone", { labels, ownerReferences: [another] }, {}, "none"],
  ["a pod in another namespace is left alone", { labels, namespace: "other" }, {}, "none"],
  ["an owner that is being deleted adopts nothing", { labels }, { deletionTimestamp }, "none"],
  [
    "an owner that is being deleted releases nothing",
    { labels: {}, ownerReferences: [reference] },
    { deletionTimestamp },
    "none",
  ],
])("%s", (_name, metadata, ownerMetadata, expected) => {
  const set = { ...owner, metadata: { ...owner.metadata, ...ownerMetadata } };
  const claims = claimsOf(set, set.spec.selector, [pod("a", { metadata })]);
  const [found = "none"] = Object.entries(claims).flatMap(([name, list]) => (list.length > 0 ? [name] : []));
  expect(found).toBe(expected);
});
