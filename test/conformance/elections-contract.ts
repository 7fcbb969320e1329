// Elections on one lock, for every lock on every store.

import type { Lock } from "@tenure/election";
import { afterEach, beforeEach, expect, it } from "vitest";
import { eventually } from "./locks-target.ts";
import { leads, type Replica, Replicas } from "./replicas.ts";

/** One lock in its store, seen by an operator. */
export interface ElectionPlace {
  /** A new connection to the lock, as another candidate has. */
  connect(): Lock;
  /** Sets annotations on the lock; null removes one. */
  annotate(annotations: Readonly<Record<string, string | null>>): Promise<unknown>;
  /** The annotations of every object of the lock. */
  annotations(): Promise<readonly Readonly<Record<string, string>>[]>;
  /** The leaseTransitions in the lock. */
  transitions(): Promise<string>;
  remove(): Promise<unknown>;
}

/** @param open a place without a lock, for one test */
export function describeElections(open: () => Promise<ElectionPlace>): void {
  let place: ElectionPlace;
  let replicas: Replicas;
  const start: Replicas["start"] = (...options) => replicas.start(...options);

  beforeEach(async () => {
    place = await open();
    replicas = new Replicas(() => place.connect());
  });
  afterEach(() => replicas.stop());

  it("one of three works, and hands over by a step-down and by a stop, with growing tokens", async () => {
    const first = start("a");
    await leads(first);
    const others = [start("b"), start("c")];
    await eventually(
      () => others.every(({ election }) => election.leader !== undefined),
      "the others know who leads",
    );
    first.election.stepDown({ cooldown: "20s" });
    await eventually(() => others.some(({ tokens }) => tokens.length > 0), "another one leads");
    const second = others.find(({ tokens }) => tokens.length > 0) as Replica;
    const third = others.find((replica) => replica !== second) as Replica;
    await second.stop();
    await leads(third);
    expect([first.ended, second.ended]).toEqual([["step-down released"], ["shutdown released"]]);
    const tokens = [first, second, third].flatMap((replica) => replica.tokens);
    expect(tokens).toEqual([...tokens].sort((x, y) => (x < y ? -1 : 1)));
    expect(new Set(tokens).size).toBe(3);
    expect([first, second, third].flatMap(({ errors }) => errors)).toEqual([]);
  });

  it("the term ends at once if the lock is deleted, and the next one has a higher token", async () => {
    // A short lease: a MigrationLock whose objects vanish one after the other may have to wait for it.
    const replica = start("a", { leaseDuration: "6s", renewDeadline: "4s" });
    await leads(replica);
    await place.remove();
    await eventually(() => replica.ended.length > 0, "the term ends");
    expect(replica.ended[0]).toMatch(/^(lock-deleted|taken-over)$/);
    await leads(replica, 2);
    expect(replica.tokens[1]).toBeGreaterThan(replica.tokens[0] as bigint);
  });

  it("annotations of others are kept on acquisition, renewal and release", async () => {
    const before = start("before");
    await leads(before);
    await before.stop();
    await place.annotate({ "example.com/note": "keep me" });
    const replica = start("a");
    await leads(replica);
    let renewals = 0;
    replica.election.on("renewed", () => renewals++);
    await eventually(() => renewals >= 2, "two renewals");
    await replica.stop();
    for (const annotations of await place.annotations())
      expect(annotations).toMatchObject({ "example.com/note": "keep me" });
  });

  it("an operator pauses, resumes and transfers leadership with annotations", async () => {
    const first = start("a");
    await leads(first);
    const [second, third] = [start("b"), start("c")];
    await eventually(
      () => [second, third].every(({ election }) => election.leader === "a"),
      "the others know who leads",
    );
    await place.annotate({ "tenure.dev/paused": "true" });
    await eventually(
      () => replicas.leaders.length === 0 && first.election.leader === undefined,
      "nobody leads",
    );
    expect(first.ended).toEqual(["step-down released"]);
    await place.annotate({ "tenure.dev/paused": null });
    await eventually(() => replicas.leaders.length === 1, "somebody leads again");
    const [leader] = replicas.leaders;
    const chosen = leader === "c" ? second : third;
    let renewals = 0;
    const current = replicas.all.find(({ election }) => election.identity === leader) as Replica;
    current.election.on("renewed", () => renewals++);
    const terms = current.ended.length;
    await place.annotate({ "tenure.dev/transfer": `${await place.transitions()}/typo` });
    const seen = renewals;
    await eventually(() => renewals > seen + 1, "the leader renews, and nobody answers to that name");
    expect([replicas.leaders, current.ended.length]).toEqual([[leader], terms]);
    await place.annotate({
      "tenure.dev/transfer": `${await place.transitions()}/${chosen === third ? "c" : "b"}`,
    });
    await leads(chosen);
    expect(replicas.leaders).toEqual([chosen === third ? "c" : "b"]);
    await place.annotate({ "tenure.dev/step-down": await place.transitions() });
    await eventually(() => chosen.ended.length > 0, "it steps down");
    expect(chosen.ended).toEqual(["step-down released"]);
  });
}
