import { expect, it } from "vitest";
import { daemonSets, statefulSets } from "../client/resources.ts";
import type { ControllerRevision } from "../client/workloads.ts";
import { expiredRevisions, type RevisionOwner, templateOf, updateRevision } from "./revisions.ts";

const metadata = { name: "db", namespace: "default", uid: "uid-db", resourceVersion: "1" };
const owner = (image: string): RevisionOwner => ({
  metadata,
  spec: {
    template: { metadata: { labels: { app: "db" } }, spec: { containers: [{ name: "main", image }] } },
  },
});
/** The revision as the API stores it. */
function stored(image: string, revision: number, owners = statefulSets): ControllerRevision {
  const { create } = updateRevision(owners, owner(image), []);
  const object = create as unknown as ControllerRevision;
  return { ...object, revision, metadata: { ...metadata, ...object.metadata, uid: image } };
}

it("a new template gets a revision with the next number, named after its hash", () => {
  const change = updateRevision(statefulSets, owner("db:2"), [stored("db:1", 4)]);
  expect(change.create).toMatchObject({ revision: 5, metadata: { name: `db-${change.hash}` } });
  expect(change.hash).not.toBe(stored("db:1", 4).metadata.labels?.["controller.kubernetes.io/hash"]);
});

it("the same template keeps its revision, and an earlier one becomes the newest", () => {
  const history = [stored("db:1", 1), stored("db:2", 2)];
  expect(updateRevision(statefulSets, owner("db:2"), history)).toEqual({
    name: history[1]?.metadata.name,
    hash: history[1]?.metadata.labels?.["controller.kubernetes.io/hash"],
  });
  expect(updateRevision(statefulSets, owner("db:1"), history).replace).toMatchObject({ revision: 3 });
  expect(templateOf(owner("db:2"), history, history[0]?.metadata.name ?? "").spec.containers[0]?.image).toBe(
    "db:1",
  );
});

it("the revision of a DaemonSet has the label of its pods", () => {
  const { labels } = stored("db:1", 1, daemonSets as never).metadata;
  expect(labels?.["controller-revision-hash"]).toMatch(/./);
});

it("the template is written with sorted keys, because Kubernetes compares revisions byte by byte", () => {
  const { data } = stored("db:1", 1);
  const template =
    '{"$patch":"replace","metadata":{"labels":{"app":"db"}},"spec":{"containers":[{"image":"db:1","name":"main"}]}}';
  expect(JSON.stringify(data)).toBe(`{"spec":{"template":${template}}}`);
});

it("the oldest revisions beyond the limit expire, unless they are in use", () => {
  const history = [3, 1, 2].map((number) => stored(`db:${number}`, number));
  const limited = { ...owner("db:9"), spec: { ...owner("db:9").spec, revisionHistoryLimit: 1 } };
  const numbers = (live: number) =>
    expiredRevisions(limited, history, ({ revision }) => revision === live).map(({ revision }) => revision);
  expect(numbers(0)).toEqual([1, 2]);
  expect(numbers(1)).toEqual([2]);
});
