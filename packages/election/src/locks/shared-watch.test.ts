import { settle } from "@tenure/base/virtual-clock";
import { KubeError } from "@tenure/kube";
import { describe, expect, it } from "vitest";
import type { LockObserver } from "../lock.ts";
import { FakeApi } from "../testing/fake-api.ts";
import { ConfigMapLock } from "./annotation-lock.ts";
import { LeaseLock } from "./lease-lock.ts";

const leases = "/apis/coordination.k8s.io/v1/namespaces/ns/leases";

/** A lock with a shared watch, and the calls to its observer. */
function follow(
  api: FakeApi,
  name: string,
  { namespace = "ns", Kind = LeaseLock, ...observer }: Partial<LockObserver> & Setting = {},
) {
  const calls: unknown[] = [];
  const controller = new AbortController();
  const lock = new Kind({ name, namespace, client: api.client, shareWatch: true });
  lock.watch(
    {
      observed: ({ record }) => calls.push(record.holderIdentity),
      deleted: (revision) => calls.push(["deleted", revision]),
      changed: () => calls.push("changed"),
      up: () => calls.push("up"),
      down: (failure) => calls.push(["down", failure?.kind]),
      ...observer,
    },
    controller.signal,
  );
  return { calls, leave: () => controller.abort() };
}

interface Setting {
  readonly namespace?: string;
  readonly Kind?: typeof LeaseLock | typeof ConfigMapLock;
}

function lease(name: string, holderIdentity: string, resourceVersion: string) {
  return { metadata: { name, uid: "u", resourceVersion }, spec: { holderIdentity } };
}

/** The only open watch. */
function theWatch(api: FakeApi) {
  const open = api.watches.filter(({ signal }) => !signal.aborted);
  expect(open).toHaveLength(1);
  return open[0] as NonNullable<(typeof open)[0]>;
}

describe("locks that share a watch", () => {
  it("have one connection per namespace and kind, without a selector", () => {
    const api = new FakeApi();
    for (const name of ["a", "b", "c"]) follow(api, name);
    follow(api, "a", { namespace: "elsewhere" });
    follow(api, "a", { Kind: ConfigMapLock });
    expect(api.watches.map(({ path, query, idleMs }) => ({ path, query, idleMs }))).toEqual([
      { path: leases, query: undefined, idleMs: 150_000 },
      { path: leases.replace("/ns/", "/elsewhere/"), query: undefined, idleMs: 150_000 },
      { path: "/api/v1/namespaces/ns/configmaps", query: undefined, idleMs: 150_000 },
    ]);
  });

  it("do not share it with locks of another client", () => {
    const [one, other] = [new FakeApi(), new FakeApi()];
    follow(one, "a");
    follow(other, "a");
    expect([one.watches.length, other.watches.length]).toEqual([1, 1]);
  });

  it("get the changes of their own object, and the state of the connection", () => {
    const api = new FakeApi();
    const a = follow(api, "a");
    const sameName = follow(api, "a");
    const b = follow(api, "b");
    const watch = theWatch(api);
    watch.onUp({ resumed: false });
    watch.onEvent({ type: "ADDED", object: lease("a", "x", "1") });
    watch.onEvent({ type: "MODIFIED", object: lease("b", "y", "2") });
    watch.onEvent({ type: "MODIFIED", object: lease("of-nobody", "z", "3") });
    watch.onEvent({ type: "DELETED", object: lease("a", "x", "4") });
    watch.onDown(new KubeError("Unreachable", "gone"));
    const ofA = ["up", "x", ["deleted", 4n], ["down", "unreachable"]];
    expect([a.calls, sameName.calls]).toEqual([ofA, ofA]);
    expect(b.calls).toEqual(["up", "y", ["down", "unreachable"]]);
  });

  it("ask for a read after history was lost, but not after the watch was resumed", () => {
    const api = new FakeApi();
    const all = [follow(api, "a"), follow(api, "b")];
    const watch = theWatch(api);
    watch.onUp({ resumed: false });
    watch.onDown(new KubeError("Unreachable", "gone"));
    watch.onUp({ resumed: true });
    for (const { calls } of all) expect(calls.splice(0)).toEqual(["up", ["down", "unreachable"], "up"]);
    watch.onUp({ resumed: false });
    for (const { calls } of all) expect(calls).toEqual(["up", "changed"]);
  });

  it("each report that the API server denies the watch", () => {
    const api = new FakeApi();
    const all = [follow(api, "a"), follow(api, "b")];
    theWatch(api).onDown(new KubeError("Forbidden", "may not watch"));
    for (const { calls } of all) expect(calls).toEqual([["down", "denied"]]);
  });
});

describe("a lock that subscribes later", () => {
  it("is notified that the connection is up, but not within the call", async () => {
    const api = new FakeApi();
    follow(api, "a");
    theWatch(api).onUp({ resumed: false });
    const b = follow(api, "b");
    expect(b.calls).toEqual([]);
    await settle();
    expect(b.calls).toEqual(["up"]);
  });

  it("gets changes at once, even before it is notified that the connection is up", async () => {
    const api = new FakeApi();
    follow(api, "a");
    theWatch(api).onUp({ resumed: false });
    const b = follow(api, "b");
    theWatch(api).onEvent({ type: "ADDED", object: lease("b", "y", "2") });
    await settle();
    expect(b.calls).toEqual(["y", "up"]);
  });

  it("is notified that the connection is down, and asks for a read when it comes back without history", async () => {
    const api = new FakeApi();
    follow(api, "a");
    const watch = theWatch(api);
    watch.onUp({ resumed: false });
    watch.onDown(new KubeError("Unreachable", "gone"));
    const b = follow(api, "b");
    await settle();
    expect(b.calls.splice(0)).toEqual([["down", "unreachable"]]);
    watch.onUp({ resumed: false });
    expect(b.calls).toEqual(["up", "changed"]);
  });

  it("is notified once if the connection changes at the same moment", async () => {
    const api = new FakeApi();
    follow(api, "a");
    const watch = theWatch(api);
    watch.onDown(new KubeError("Unreachable", "gone"));
    const b = follow(api, "b");
    watch.onUp({ resumed: true });
    await settle();
    expect(b.calls).toEqual(["up"]);
  });

  it("is not notified if it leaves at once", async () => {
    const api = new FakeApi();
    follow(api, "a");
    theWatch(api).onUp({ resumed: false });
    const b = follow(api, "b");
    b.leave();
    await settle();
    expect(b.calls).toEqual([]);
  });
});

describe("the end", () => {
  it("comes when the last lock leaves, and the next lock starts a new watch", () => {
    const api = new FakeApi();
    const [a, b] = [follow(api, "a"), follow(api, "b")];
    const watch = theWatch(api);
    a.leave();
    watch.onUp({ resumed: false });
    expect([a.calls, b.calls]).toEqual([[], ["up"]]);
    expect(watch.signal.aborted).toBe(false);
    b.leave();
    expect(watch.signal.aborted).toBe(true);
    const c = follow(api, "a");
    theWatch(api).onUp({ resumed: false });
    expect(c.calls).toEqual(["up"]);
    expect(api.watches).toHaveLength(2);
  });

  it("does not affect a newer watch", async () => {
    const api = new FakeApi();
    follow(api, "a").leave();
    const b = follow(api, "b");
    await settle();
    const c = follow(api, "c");
    theWatch(api).onUp({ resumed: false });
    expect([b.calls, c.calls]).toEqual([["up"], ["up"]]);
  });

  it("does not affect a newer watch either if the owner of a lock throws after it has left", () => {
    const api = new FakeApi();
    const a = follow(api, "a", {
      up: () => {
        a.leave();
        follow(api, "b");
        throw new Error("this owner throws");
      },
    });
    theWatch(api).onUp({ resumed: false });
    const c = follow(api, "c");
    theWatch(api).onUp({ resumed: false });
    expect(c.calls).toEqual(["up"]);
  });

  it("of one lock takes effect even if another lock causes it during a notification", () => {
    const api = new FakeApi();
    const others: { leave(): void }[] = [];
    follow(api, "a", { up: () => others.forEach((other) => void other.leave()) });
    const b = follow(api, "b");
    others.push(b);
    theWatch(api).onUp({ resumed: false });
    expect(b.calls).toEqual([]);
  });

  it("of a lock whose owner throws does not affect the others", async () => {
    const api = new FakeApi();
    const before = follow(api, "a");
    const bad = follow(api, "b", {
      up: () => {
        throw new Error("this owner throws");
      },
    });
    const after = follow(api, "c");
    const watch = theWatch(api);
    watch.onUp({ resumed: false });
    watch.onEvent({ type: "ADDED", object: lease("c", "x", "1") });
    watch.onEvent({ type: "ADDED", object: lease("b", "x", "2") });
    await settle();
    expect([before.calls, bad.calls, after.calls]).toEqual([["up"], [["down", "server"]], ["up", "x"]]);
    expect(watch.signal.aborted).toBe(false);
    for (const one of [before, after]) one.leave();
    expect(watch.signal.aborted).toBe(true);
  });

  it("of a client is reported to all locks, without an unhandled rejection", async () => {
    const api = new FakeApi();
    api.fail = () => new KubeError("Aborted", "the client was closed");
    const all = [follow(api, "a"), follow(api, "b")];
    await settle();
    for (const { calls } of all) expect(calls).toEqual([["down", "timeout"]]);
    api.fail = undefined;
    const c = follow(api, "c");
    theWatch(api).onUp({ resumed: false });
    expect(c.calls).toEqual(["up"]);
  });
});

describe("shareWatch", () => {
  it("is rejected without a client, together with all other problems", () => {
    expect(() => new LeaseLock({ name: "A", namespace: "ns", shareWatch: true })).toThrow(
      /^Cannot use the Lease as a lock: name must be .*, but is "A"; shareWatch needs client; pass the same client to each of these locks\.$/,
    );
  });

  it("must be true or false", () => {
    const options = { name: "a", namespace: "ns", client: new FakeApi().client, shareWatch: "yes" };
    expect(() => new LeaseLock(options as never)).toThrow('shareWatch must be true or false, but is "yes"');
  });
});
