import { expect, it } from "vitest";
import { stateOf } from "../elections/state.ts";
import { LockObservations } from "./observe-locks.ts";

const nowMs = Date.UTC(2030, 0, 1, 12);
const at = (ms: number) => new Date(nowMs + ms).toISOString();

function lease(spec: object, annotations: Record<string, string> = {}, resourceVersion = "5") {
  const metadata = { name: "x", namespace: "y", resourceVersion, annotations };
  const state = stateOf(
    "lease",
    { metadata, spec: { leaseDurationSeconds: 15, leaseTransitions: 3, ...spec } },
    nowMs,
  );
  if (!state) throw new Error("no state");
  return state;
}
const held = (renewMs: number, acquireMs = -10_000, more = {}) =>
  ({ holderIdentity: "a", acquireTime: at(acquireMs), renewTime: at(renewMs), ...more }) as const;

it("the first state seen says how long it has been held and how long it is valid; its revision is no token", () => {
  expect(new LockObservations().of(lease(held(-2_000)), 7)).toEqual([
    {
      kind: "lock",
      atMs: 7,
      election: "y/x",
      holder: "a",
      transitions: 3,
      leaseMs: 15_000,
      acquired: at(-10_000),
      heldForMs: 10_000,
      expiresInMs: 13_000,
    },
  ]);
});

it("a write that changes only the renewal is a renewal", () => {
  const locks = new LockObservations();
  locks.of(lease(held(-2_000)), 1);
  expect(locks.of(lease(held(0), {}, "6"), 2)).toEqual([{ kind: "renewed", atMs: 2, election: "y/x" }]);
});

it("the revision of the write that begins a term is its token", () => {
  const locks = new LockObservations();
  locks.of(lease(held(-2_000)), 1);
  const [seen] = locks.of(lease({ ...held(0, 0), holderIdentity: "b" }, {}, "9"), 2);
  expect(seen).toMatchObject({ holder: "b", token: "9" });
});

it("an order is passed on, with who gave it and why", () => {
  const orders = {
    "tenure.dev/paused": "true",
    "tenure.dev/paused-by": "alice",
    "tenure.dev/pause-reason": "upgrade",
  };
  const [seen] = new LockObservations().of(lease(held(0, 0), orders), 1);
  expect(seen).toMatchObject({ orders: { paused: true, pausedBy: "alice", pauseReason: "upgrade" } });
  // Somebody added the order, so the revision may be that of the order.
  expect(seen).not.toHaveProperty("token");
});

it("the owners of shards are passed on when they change", () => {
  const locks = new LockObservations();
  const member = (identity: string, shards: string) => ({
    identity,
    lease: `l-${identity}`,
    uid: "u",
    acquired: "t",
    leaseSeconds: 15,
    count: 3,
    shards,
  });
  const map = (members: object[]) =>
    lease({}, { "tenure.dev/map": JSON.stringify({ version: 1, count: 3, members, write: "w" }) });
  expect(locks.of(map([member("a", "0-1")]), 1)).toEqual([
    { kind: "shares", atMs: 1, election: "y/x", owners: ["a", "a", ""] },
  ]);
  expect(locks.of(map([member("a", "0-1")]), 2)).toEqual([]);
  expect(locks.of(map([]), 3)).toMatchObject([{ owners: ["", "", ""] }]);
});

it("a record that cannot be read says why", () => {
  const [seen] = new LockObservations().of(lease({ holderIdentity: 7 }), 1);
  expect(seen).toMatchObject({ kind: "unreadable", problem: "holderIdentity is not a string: 7" });
});
