// What an election needs from a lock (packages/election/src/lock.ts), for every lock on every store.

import type { Answer, LockView } from "@tenure/core";
import type { Lock, LockObserver } from "@tenure/election";
import { beforeEach, describe, expect, it } from "vitest";
import { eventually, record, viewIn } from "./locks-target.ts";

/** One lock in its store, seen by somebody who is not a candidate. */
export interface LockPlace {
  /** In how many objects the lock is stored. */
  readonly objects: number;
  /** A new connection to the lock, as another candidate has. */
  connect(): Lock;
  /** Changes something that is not the record. */
  touch(): Promise<unknown>;
  /** Sets annotations on every object of the lock. */
  annotate(annotations: Readonly<Record<string, string>>): Promise<unknown>;
  /** The annotations of every object of the lock. */
  annotations(): Promise<readonly Readonly<Record<string, string>>[]>;
  remove(): Promise<unknown>;
}

const { signal } = new AbortController();

/** @param open a place without a lock, for one test */
export function describeLock(open: () => Promise<LockPlace>): void {
  let place: LockPlace;
  let lock: Lock;

  beforeEach(async () => {
    place = await open();
    lock = place.connect();
    await lock.prepare?.();
  });

  const create = async (holder = "a"): Promise<LockView> =>
    viewIn(await lock.write(record(holder), undefined, signal));
  const holder = async (): Promise<string | undefined> => {
    const answer = await lock.read(signal);
    return answer.kind === "found" ? answer.view.record.holderIdentity : answer.kind;
  };
  const wins = (answers: readonly Answer[]) => answers.filter((answer) => answer.kind === "found").length;

  describe("a write is compare-and-swap", () => {
    it("creates a lock that does not exist, and reads back what was written", async () => {
      expect(await lock.read(signal)).toEqual({ kind: "absent" });
      const written = await create();
      expect(written.record).toEqual(record("a"));
      const read = viewIn(await lock.read(signal));
      expect([read.record, read.uid, read.version]).toEqual([record("a"), written.uid, written.version]);
    });

    it("does not create a lock that exists", async () => {
      await create("a");
      expect(await lock.write(record("b"), undefined, signal)).toEqual({ kind: "conflict" });
      expect(await holder()).toBe("a");
    });

    it("changes the lock only if it has not changed since it was read", async () => {
      const first = await create("a");
      const second = viewIn(await lock.write(record("a", 3), first, signal));
      expect(second.record).toEqual(record("a", 3));
      expect(await lock.write(record("b"), first, signal)).toEqual({ kind: "conflict" });
      expect(await holder()).toBe("a");
      expect(await lock.write(record("b"), second, signal)).toMatchObject({ kind: "found" });
      expect(await holder()).toBe("b");
    });

    it("does not overwrite a lock of which only something else than the record changed", async () => {
      const before = await create("a");
      await place.touch();
      expect(await lock.write(record("b"), before, signal)).toEqual({ kind: "conflict" });
    });

    it("accepts a transfer only over the version that was read, and leaves the record as it is", async () => {
      await create("a");
      await place.annotate({ "tenure.dev/transfer": "0/b", "example.com/note": "keep" });
      const asked = viewIn(await lock.read(signal));
      expect(asked.orders).toEqual({ transfer: { transitions: 0, to: "b" } });
      const accepted = viewIn(await (lock.acceptTransfer?.(asked, signal) as Promise<Answer>));
      expect(accepted.orders).toEqual({ transfer: { transitions: 0, to: "b", accepted: true } });
      expect([accepted.record, accepted.uid]).toEqual([asked.record, asked.uid]);
      expect(accepted.revision).toBeGreaterThan(asked.revision);
      for (const annotations of await place.annotations())
        expect(annotations["example.com/note"]).toBe("keep");
      expect(await lock.acceptTransfer?.(asked, signal)).toEqual({ kind: "conflict" });
      const renewed = viewIn(await lock.write(record("a", 3), accepted, signal));
      expect(renewed.orders).toEqual(accepted.orders);
      expect(await lock.acceptTransfer?.(accepted, signal)).toEqual({ kind: "conflict" });
      await place.remove();
      expect((await lock.acceptTransfer?.(renewed, signal))?.kind).toMatch(/^(absent|conflict)$/);
    });

    it("does not recreate a deleted lock", async () => {
      const before = await create("a");
      await place.remove();
      expect(["conflict", "absent"]).toContain((await lock.write(record("a", 3), before, signal)).kind);
      expect(await lock.read(signal)).toEqual({ kind: "absent" });
    });

    it("does not overwrite a new lock with the same name", async () => {
      const before = await create("a");
      await place.remove();
      const after = await create("b");
      expect(after.uid).not.toBe(before.uid);
      expect(await lock.write(record("a", 3), before, signal)).toEqual({ kind: "conflict" });
      expect(await holder()).toBe("b");
    });

    it("succeeds for exactly one of many candidates that write over the same view", async () => {
      const candidates = Array.from({ length: 8 }, (_, index) => `candidate-${index}`);
      const links = candidates.map(() => place.connect());
      const before = await create();
      await Promise.all(links.map((link) => link.prepare?.()));
      const answers = await Promise.all(
        links.map((link, index) => link.write(record(candidates[index] as string), before, signal)),
      );
      expect(wins(answers)).toBe(1);
      const winner = candidates[answers.findIndex((answer) => answer.kind === "found")];
      expect(await holder()).toBe(winner);
    });

    it("succeeds for exactly one of many candidates that create the lock", async () => {
      const links = Array.from({ length: 8 }, () => place.connect());
      const answers = await Promise.all(
        links.map((link, index) => link.write(record(`candidate-${index}`), undefined, signal)),
      );
      expect(wins(answers)).toBe(1);
    });
  });

  describe("a revision orders all changes", () => {
    it("grows with every change, even if the lock is deleted and created again, and versions differ", async () => {
      const views = [await create("a")];
      views.push(viewIn(await lock.write(record("a", 1), views[0], signal)));
      await place.annotate({ "example.com/x": "1" });
      views.push(viewIn(await lock.read(signal)));
      await place.remove();
      views.push(await create("b"));
      for (let index = 1; index < views.length; index++) {
        expect(views[index]?.revision).toBeGreaterThan(views[index - 1]?.revision as bigint);
      }
      expect(new Set(views.map(({ version }) => version)).size).toBe(views.length);
    });

    it("does not change by reading", async () => {
      const { version } = await create();
      expect(viewIn(await lock.read(signal)).version).toBe(version);
    });
  });

  it("keeps the annotations of others on acquisition, renewal and release", async () => {
    let view = await create("a");
    await place.annotate({ "example.com/theirs": "3" });
    view = viewIn(await lock.read(signal));
    for (const next of [record("b"), record("b", 1), { ...record(""), leaseDurationSeconds: 1 }]) {
      view = viewIn(await lock.write(next, view, signal));
      expect(view.record).toEqual(next);
      for (const annotations of await place.annotations())
        expect(annotations).toMatchObject({ "example.com/theirs": "3" });
    }
  });

  it("answers a request whose signal is aborted, and does not perform it", async () => {
    const aborted = AbortSignal.abort();
    expect(await lock.read(aborted)).toMatchObject({ kind: "failed", failure: { kind: "timeout" } });
    expect(await lock.write(record("a"), undefined, aborted)).toMatchObject({ kind: "failed" });
    expect(await lock.read(signal)).toEqual({ kind: "absent" });
  });

  describe("a watch", () => {
    it("reports every change until its signal aborts", async () => {
      let news = 0;
      let isUp = false;
      const holders: string[] = [];
      let deletions = 0;
      const observer: LockObserver = {
        observed: ({ record: { holderIdentity } }) => {
          news += 1;
          holders.push(holderIdentity);
        },
        deleted: () => deletions++,
        changed: () => news++,
        up: () => {
          isUp = true;
        },
        down: () => {
          isUp = false;
        },
      };
      const ending = new AbortController();
      lock.watch?.(observer, ending.signal);
      await eventually(() => isUp, "the watch is up");
      const atStart = news;
      // Written over other connections, because a MigrationLock does not report its own writes.
      let view = viewIn(await place.connect().write(record("a"), undefined, signal));
      await eventually(() => news >= atStart + place.objects, "the creation is reported");
      const before = news;
      view = viewIn(await place.connect().write(record("b"), view, signal));
      await eventually(() => news >= before + place.objects, "the change is reported");
      expect(holders).toEqual(place.objects === 1 ? ["a", "b"] : []);
      const beforeDeletion = news;
      await place.remove();
      await eventually(() => deletions + news - beforeDeletion >= place.objects, "the deletion is reported");
      ending.abort();
      const after = news;
      // A second watch shows when the first one would have reported the change.
      let reported = 0;
      const goingOn = new AbortController();
      const onChange = () => reported++;
      place.connect().watch?.({ ...observer, observed: onChange, changed: onChange }, goingOn.signal);
      viewIn(await place.connect().write(record("c"), undefined, signal));
      await eventually(() => reported >= place.objects, "another watch reports it");
      goingOn.abort();
      expect(news).toBe(after);
      expect(view.record.holderIdentity).toBe("b");
    });

    it("reports what changed before it was up, or asks for a read", async () => {
      const view = viewIn(await place.connect().write(record("a"), undefined, signal));
      viewIn(await lock.read(signal));
      // A candidate has read the lock, and its watch has not started yet.
      viewIn(await place.connect().write(record("b"), view, signal));
      let isKnown = false;
      const known = () => {
        isKnown = true;
      };
      const observer: LockObserver = {
        observed: ({ record: { holderIdentity } }) => holderIdentity === "b" && known(),
        deleted: () => {},
        changed: known,
        up: () => {},
        down: () => {},
      };
      const ending = new AbortController();
      lock.watch?.(observer, ending.signal);
      await eventually(() => isKnown, "the change is known");
      ending.abort();
    });
  });
}
