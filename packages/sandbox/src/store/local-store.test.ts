import fc from "fast-check";
import { expect, test } from "vitest";
import type { ApiObject } from "../objects/object.ts";
import { type Journal, type JournalEntry, LocalStore } from "./local-store.ts";
import type { StoreEvent } from "./types.ts";

const object = (name: string, value = 0): ApiObject => ({
  kind: "Thing",
  apiVersion: "v1",
  metadata: { name },
  value,
});
const key = (name: string) => `/registry/things/${name}`;
const put = (store: LocalStore, name: string, value = 0) =>
  store.commit(key(name), () => object(name, value));

test("every commit has its own revision, and the object carries it", async () => {
  const store = new LocalStore();
  const first = await put(store, "a");
  const second = await put(store, "b");
  expect(second?.revision).toBe((first?.revision ?? 0) + 1);
  expect(second?.value.metadata.resourceVersion).toBe(String(second?.revision));
  expect(store.revision).toBe(second?.revision);
});

test("a decision that changes nothing is not a commit", async () => {
  const store = new LocalStore();
  await put(store, "a");
  const before = store.revision;
  await store.commit(key("a"), () => undefined);
  await store.commit(key("none"), () => "delete");
  expect(store.revision).toBe(before);
});

test("a decision that throws changes nothing", async () => {
  const store = new LocalStore();
  await put(store, "a", 1);
  await expect(
    store.commit(key("a"), () => {
      throw new Error("no");
    }),
  ).rejects.toThrow("no");
  expect(store.get(key("a"))?.value.value).toBe(1);
});

/** A journal in memory. `fail` makes the next writes fail, before or after they are stored. */
class TestJournal implements Journal {
  readonly batches: JournalEntry[][] = [];
  fail: "before" | "after" | undefined;
  broken = false;
  revision = 1;

  async write(entries: JournalEntry[]) {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.broken) throw new Error("the database is closed");
    this.broken = this.fail !== undefined;
    if (this.fail !== "before") {
      this.batches.push(entries);
      this.revision = entries.at(-1)?.revision ?? this.revision;
    }
    if (this.fail) throw new Error("no space left on device");
  }

  async recover() {
    if (this.fail) throw new Error("still no space left on device");
    this.broken = false;
    return this.revision;
  }

  async close() {}
}

test("with a slow journal, commits are still serialised, and are visible only after they are written", async () => {
  const journal = new TestJournal();
  const store = new LocalStore({ journal });
  let seen = 1;
  store.watchAll((event) => {
    expect(event.revision).toBe(seen + 1);
    expect(event.revision).toBeLessThanOrEqual(journal.revision);
    seen = event.revision;
  });
  const increment = () => store.commit(key("a"), (now) => object("a", Number(now?.value.value ?? 0) + 1));
  await Promise.all(Array.from({ length: 20 }, increment));
  expect(store.get(key("a"))?.value.value).toBe(20);
  expect(seen).toBe(21);
});

test("commits that wait at the same time are written together", async () => {
  const journal = new TestJournal();
  const store = new LocalStore({ journal });
  await Promise.all(Array.from({ length: 50 }, (_, index) => put(store, `n${index}`)));
  expect(journal.batches.length).toBeLessThanOrEqual(2);
  expect(journal.batches.flat().map(({ revision }) => revision)).toEqual(
    Array.from({ length: 50 }, (_, index) => index + 2),
  );
});

test("in one batch, a commit sees the commits before it, and a rejected decision leaves the others alone", async () => {
  const store = new LocalStore({ journal: new TestJournal() });
  const create = (value: number) =>
    store.commit(key("a"), (now) => {
      if (now) throw new Error(`exists with ${now.value.value}`);
      return object("a", value);
    });
  const remove = () => store.commit(key("a"), () => "delete");
  const results = await Promise.allSettled([create(1), create(2), remove(), create(3)]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
  expect(store.get(key("a"))?.value.value).toBe(3);
});

test.each([
  ["before", 0],
  ["after", 1],
] as const)("a write that fails %s it is stored is shown only if it is stored", async (fail, value) => {
  const journal = new TestJournal();
  const store = new LocalStore({ journal });
  await put(store, "a", 0);
  journal.fail = fail;
  await expect(put(store, "a", 1)).rejects.toThrow("no space left on device");
  expect(store.get(key("a"))?.value.value).toBe(0);
  journal.fail = undefined;
  const events: StoreEvent[] = [];
  store.watchAll((event) => events.push(event));
  await put(store, "b");
  expect(store.get(key("a"))?.value.value).toBe(value);
  expect(store.get(key("b"))).toBeDefined();
  expect(events.at(-1)?.revision).toBe(store.revision);
  expect(store.revision).toBe(journal.revision);
});

test("a store says why it cannot write, and that it can again", async () => {
  const journal = new TestJournal();
  const store = new LocalStore({ journal });
  expect(await store.problem()).toBeUndefined();
  journal.fail = "before";
  await expect(put(store, "a")).rejects.toThrow();
  expect(await store.problem()).toBe("still no space left on device");
  await expect(put(store, "a")).rejects.toThrow("still no space left on device");
  journal.fail = undefined;
  expect(await store.problem()).toBeUndefined();
  await put(store, "a");
});

test("a watch sees the changes since its revision, and then new changes", async () => {
  const store = new LocalStore();
  await put(store, "a");
  const from = store.revision;
  await put(store, "b");
  await store.commit("/registry/others/x", () => object("x"));
  const events: StoreEvent[] = [];
  const stop = store.watch("/registry/things/", from, (event) => events.push(event));
  await store.commit(key("a"), () => "delete");
  stop?.();
  await put(store, "c");
  expect(events.map(({ type, object }) => `${type} ${object.value.metadata.name}`)).toEqual([
    "ADDED b",
    "DELETED a",
  ]);
});

test("after a compaction an older revision cannot be watched or listed", async () => {
  const store = new LocalStore();
  await put(store, "a");
  const old = store.revision;
  await put(store, "b");
  store.compact();
  expect(store.watch("/registry/things/", old, () => {})).toBeUndefined();
  expect(store.page("/registry/things/", { revision: old })).toBeUndefined();
  expect(store.watch("/registry/things/", store.revision, () => {})).toBeTypeOf("function");
});

const reachesBack = (store: LocalStore, revision: number) => {
  const stop = store.watch("/registry/things/", revision, () => {});
  stop?.();
  return stop !== undefined;
};

test("the history is limited in events and in bytes", async () => {
  const store = new LocalStore({ historyEvents: 10 });
  for (let index = 0; index < 25; index++) await put(store, "a", index);
  expect(reachesBack(store, store.revision - 10)).toBe(true);
  expect(reachesBack(store, store.revision - 11)).toBe(false);
  const large = new LocalStore();
  const text = "x".repeat(1024 * 1024);
  for (let index = 0; index < 40; index++) await large.commit(key("a"), () => ({ ...object("a"), text }));
  expect(reachesBack(large, large.revision - 32)).toBe(false);
});

test("each resource has its own history: traffic on one does not shorten the history of another", async () => {
  const store = new LocalStore({ historyEvents: 10 });
  await put(store, "a");
  const before = store.revision;
  for (const resource of ["others", "services/endpoints"]) {
    for (let index = 0; index < 25; index++)
      await store.commit(`/registry/${resource}/default/x`, () => object("x", index));
  }
  expect(reachesBack(store, before)).toBe(true);
  expect(store.watch("/registry/others/", before, () => {})).toBeUndefined();
  expect(store.watch("/registry/services/specs/", before, () => {})).toBeDefined();
});

/** Compares with a slow but obvious model: a copy of all objects at every revision. */
test("a list at any revision in the history equals the state at that revision", async () => {
  const step = fc.record({ name: fc.constantFrom("a", "b", "c"), remove: fc.boolean(), value: fc.nat(9) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const store = new LocalStore({ historyEvents: 15 });
      const snapshots = new Map<number, string>();
      const print = (list: readonly { json: string }[]) => list.map(({ json }) => json).join();
      for (const { name, remove, value } of steps) {
        const list = store.list("/registry/things/");
        snapshots.set(store.revision, print(list));
        await store.commit(key(name), () => (remove ? "delete" : object(name, value)));
      }
      for (const [revision, expected] of snapshots) {
        const page = store.page("/registry/things/", { revision });
        if (reachesBack(store, revision)) expect(print(page?.items ?? [])).toBe(expected);
        else expect(page).toBeUndefined();
      }
    }),
  );
});

test("the events since any revision in the history turn the old state into the current state", async () => {
  const step = fc.record({ name: fc.constantFrom("a", "b", "c"), remove: fc.boolean(), value: fc.nat(9) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.nat(30), async (steps, at) => {
      const store = new LocalStore();
      let from: { revision: number; state: Map<string, string> } | undefined;
      for (const [index, { name, remove, value }] of steps.entries()) {
        if (index === at) {
          const state = new Map(store.list("/registry/things/").map((stored) => [stored.key, stored.json]));
          from = { revision: store.revision, state };
        }
        await store.commit(key(name), () => (remove ? "delete" : object(name, value)));
      }
      if (!from) return;
      const { state } = from;
      store.watch("/registry/things/", from.revision, ({ type, object: { key: at, json } }) => {
        if (type === "DELETED") state.delete(at);
        else state.set(at, json);
      });
      expect(Object.fromEntries(state)).toEqual(
        Object.fromEntries(store.list("/registry/things/").map((stored) => [stored.key, stored.json])),
      );
    }),
  );
});

test("pages of any size, at any revision in the history, add up to the list at that revision", async () => {
  const name = fc.integer({ min: 1, max: 9 }).map(String);
  const step = fc.record({ name, remove: fc.boolean(), value: fc.nat(9) });
  const steps = fc.array(step, { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(steps, steps, fc.integer({ min: 1, max: 5 }), async (before, later, limit) => {
      const store = new LocalStore();
      const run = async (list: typeof before) => {
        for (const { name: at, remove, value } of list)
          await store.commit(key(at), () => (remove ? "delete" : object(at, value)));
      };
      await run(before);
      await store.commit("/registry/thingsother/x", () => object("x"));
      const revision = store.revision;
      const expected = store.list("/registry/things/").map(({ json }) => json);
      await run(later);
      const found: string[] = [];
      let after: string | undefined;
      for (let remaining = 1; remaining > 0; ) {
        const page = store.page("/registry/things/", { revision, limit, ...(after ? { after } : {}) });
        found.push(...(page?.items ?? []).map(({ json }) => json));
        after = page?.items.at(-1)?.key;
        remaining = page?.remaining ?? 0;
        expect(remaining).toBe(expected.length - found.length);
      }
      expect(found).toEqual(expected);
    }),
  );
});

test("a page looks at no more objects than it shows", async () => {
  const store = new LocalStore();
  for (let index = 0; index < 2000; index++) await put(store, `n${index}`);
  const { revision } = store;
  await put(store, "n5", 1);
  let looked = 0;
  const matches = () => ++looked > 0;
  const page = store.page("/registry/things/", { revision, after: key("n1500"), limit: 50, matches });
  expect(page?.items).toHaveLength(50);
  expect(looked).toBe(50);
});
