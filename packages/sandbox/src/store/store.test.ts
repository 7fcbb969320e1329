import fc from "fast-check";
import { expect, test } from "vitest";
import type { ApiObject } from "../objects/object.ts";
import { Store } from "./store.ts";
import type { StoreEvent } from "./types.ts";

const object = (name: string, value = 0): ApiObject => ({
  kind: "Thing",
  apiVersion: "v1",
  metadata: { name },
  value,
});
const key = (name: string) => `/registry/things/${name}`;
const put = (store: Store, name: string, value = 0) => store.commit(key(name), () => object(name, value));

test("every commit has its own revision, and the object carries it", async () => {
  const store = new Store();
  const first = await put(store, "a");
  const second = await put(store, "b");
  expect(second?.revision).toBe((first?.revision ?? 0) + 1);
  expect(second?.value.metadata.resourceVersion).toBe(String(second?.revision));
  expect(store.revision).toBe(second?.revision);
});

test("a decision that changes nothing is not a commit", async () => {
  const store = new Store();
  await put(store, "a");
  const before = store.revision;
  await store.commit(key("a"), () => undefined);
  await store.commit(key("none"), () => "delete");
  expect(store.revision).toBe(before);
});

test("a decision that throws changes nothing", async () => {
  const store = new Store();
  await put(store, "a", 1);
  await expect(
    store.commit(key("a"), () => {
      throw new Error("no");
    }),
  ).rejects.toThrow("no");
  expect(store.get(key("a"))?.value.value).toBe(1);
});

test("with a slow journal, commits are still serialised, and are visible only after they are written", async () => {
  const written: number[] = [];
  let seen = 0;
  const journal = {
    async write({ revision }: { revision: number }) {
      await new Promise((resolve) => setImmediate(resolve));
      expect(seen).toBeLessThan(revision);
      written.push(revision);
    },
    close: async () => {},
  };
  const store = new Store({ journal });
  store.watchAll((event) => {
    seen = event.revision;
  });
  const increment = () => store.commit(key("a"), (now) => object("a", Number(now?.value.value ?? 0) + 1));
  await Promise.all(Array.from({ length: 20 }, increment));
  expect(store.get(key("a"))?.value.value).toBe(20);
  expect(written).toEqual([...written].sort((a, b) => a - b));
});

test("a watch sees the changes since its revision, and then new changes", async () => {
  const store = new Store();
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
  const store = new Store();
  await put(store, "a");
  const old = store.revision;
  await put(store, "b");
  store.compact();
  expect(store.watch("/registry/things/", old, () => {})).toBeUndefined();
  expect(store.list("/registry/things/", old)).toBeUndefined();
  expect(store.watch("/registry/things/", store.revision, () => {})).toBeTypeOf("function");
});

test("the history is limited in events and in bytes", async () => {
  const store = new Store({ historyEvents: 10 });
  for (let index = 0; index < 25; index++) await put(store, "a", index);
  expect(store.revision - store.compactedRevision).toBe(10);
  const large = new Store();
  const text = "x".repeat(1024 * 1024);
  for (let index = 0; index < 40; index++) await large.commit(key("a"), () => ({ ...object("a"), text }));
  expect(large.revision - large.compactedRevision).toBeLessThan(32);
});

/** Compares with a slow but obvious model: a copy of all objects at every revision. */
test("a list at any revision in the history equals the state at that revision", async () => {
  const step = fc.record({ name: fc.constantFrom("a", "b", "c"), remove: fc.boolean(), value: fc.nat(9) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const store = new Store({ historyEvents: 15 });
      const snapshots = new Map<number, string>();
      const print = (list: readonly { json: string }[]) => list.map(({ json }) => json).join();
      for (const { name, remove, value } of steps) {
        snapshots.set(store.revision, print(store.list("/registry/things/")));
        await store.commit(key(name), () => (remove ? "delete" : object(name, value)));
      }
      for (const [revision, expected] of snapshots) {
        const list = store.list("/registry/things/", revision);
        if (revision >= store.compactedRevision) expect(print(list ?? [])).toBe(expected);
        else expect(list).toBeUndefined();
      }
    }),
  );
});

test("the events since any revision in the history turn the old state into the current state", async () => {
  const step = fc.record({ name: fc.constantFrom("a", "b", "c"), remove: fc.boolean(), value: fc.nat(9) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.nat(30), async (steps, at) => {
      const store = new Store();
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
