import { settle } from "@tenure/base/virtual-clock";
import { KubeError } from "@tenure/kube";
import { describe, expect, it } from "vitest";
import type { LockObserver } from "../lock.ts";
import { FakeApi } from "../testing/fake-api.ts";
import { ConfigMapLock } from "./annotation-lock.ts";
import { LeaseLock } from "./lease-lock.ts";

const leases = "/apis/coordination.k8s.io/v1/namespaces/ns/leases";

/** A lock that follows its object together with others, and what its owner was told. */
function follow(
  api: FakeApi,
  name: string,
  { namespace = "ns", Kind = LeaseLock, ...observer }: Partial<LockObserver> & Setting = {},
) {
  const told: unknown[] = [];
  const controller = new AbortController();
  const lock = new Kind({ name, namespace, client: api.client, shareWatch: true });
  lock.watch(
    {
      observed: ({ record }) => told.push(record.holderIdentity),
      deleted: (revision) => told.push(["deleted", revision]),
      changed: () => told.push("changed"),
      up: () => told.push("up"),
      down: (failure) => told.push(["down", failure?.kind]),
      ...observer,
    },
    controller.signal,
  );
  return { told, leave: () => controller.abort() };
}

interface Setting {
  readonly namespace?: string;
  readonly Kind?: typeof LeaseLock | typeof ConfigMapLock;
}

function lease(name: string, holderIdentity: string, resourceVersion: string) {
  return { metadata: { name, uid: "u", resourceVersion }, spec: { holderIdentity } };
}

/** The one watch that there should be. */
function theWatch(api: FakeApi) {
  const open = api.watches.filter(({ signal }) => !signal.aborted);
  expect(open).toHaveLength(1);
  return open[0] as NonNullable<(typeof open)[0]>;
}

describe("locks that share a watch", () => {
  it("have one connection for each namespace and kind, without a selector", () => {
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

  it("of another client have another connection", () => {
    const [one, other] = [new FakeApi(), new FakeApi()];
    follow(one, "a");
    follow(other, "a");
    expect([one.watches.length, other.watches.length]).toEqual([1, 1]);
  });

  it("hear each of its own object, and all of the connection", () => {
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
    expect([a.told, sameName.told]).toEqual([ofA, ofA]);
    expect(b.told).toEqual(["up", "y", ["down", "unreachable"]]);
  });

  it("are all to be read when history was lost, as deletions in the gap are not told; not when it was resumed", () => {
    const api = new FakeApi();
    const all = [follow(api, "a"), follow(api, "b")];
    const watch = theWatch(api);
    watch.onUp({ resumed: false });
    watch.onDown(new KubeError("Unreachable", "gone"));
    watch.onUp({ resumed: true });
    for (const { told } of all) expect(told.splice(0)).toEqual(["up", ["down", "unreachable"], "up"]);
    watch.onUp({ resumed: false });
    for (const { told } of all) expect(told).toEqual(["up", "changed"]);
  });

  it("are told what the API server refuses, each by itself", () => {
    const api = new FakeApi();
    const all = [follow(api, "a"), follow(api, "b")];
    theWatch(api).onDown(new KubeError("Forbidden", "may not watch"));
    for (const { told } of all) expect(told).toEqual([["down", "denied"]]);
  });
});

describe("one that joins later", () => {
  it("is told that the connection is up, after it has asked and not before", async () => {
    const api = new FakeApi();
    follow(api, "a");
    theWatch(api).onUp({ resumed: false });
    const b = follow(api, "b");
    expect(b.told).toEqual([]);
    await settle();
    expect(b.told).toEqual(["up"]);
  });

  it("hears at once of what changes, also before it was told that the connection is up", async () => {
    const api = new FakeApi();
    follow(api, "a");
    theWatch(api).onUp({ resumed: false });
    const b = follow(api, "b");
    theWatch(api).onEvent({ type: "ADDED", object: lease("b", "y", "2") });
    await settle();
    expect(b.told).toEqual(["y", "up"]);
  });

  it("while it is down is told so, and is to be read when it comes back with its history lost", async () => {
    const api = new FakeApi();
    follow(api, "a");
    const watch = theWatch(api);
    watch.onUp({ resumed: false });
    watch.onDown(new KubeError("Unreachable", "gone"));
    const b = follow(api, "b");
    await settle();
    expect(b.told.splice(0)).toEqual([["down", "unreachable"]]);
    watch.onUp({ resumed: false });
    expect(b.told).toEqual(["up", "changed"]);
  });

  it("just when the connection changes is told once", async () => {
    const api = new FakeApi();
    follow(api, "a");
    const watch = theWatch(api);
    watch.onDown(new KubeError("Unreachable", "gone"));
    const b = follow(api, "b");
    watch.onUp({ resumed: true });
    await settle();
    expect(b.told).toEqual(["up"]);
  });

  it("and left at once is told nothing", async () => {
    const api = new FakeApi();
    follow(api, "a");
    theWatch(api).onUp({ resumed: false });
    const b = follow(api, "b");
    b.leave();
    await settle();
    expect(b.told).toEqual([]);
  });
});

describe("the end", () => {
  it("comes with the last lock that leaves; the next begins anew", () => {
    const api = new FakeApi();
    const [a, b] = [follow(api, "a"), follow(api, "b")];
    const watch = theWatch(api);
    a.leave();
    watch.onUp({ resumed: false });
    expect([a.told, b.told]).toEqual([[], ["up"]]);
    expect(watch.signal.aborted).toBe(false);
    b.leave();
    expect(watch.signal.aborted).toBe(true);
    const c = follow(api, "a");
    theWatch(api).onUp({ resumed: false });
    expect(c.told).toEqual(["up"]);
    expect(api.watches).toHaveLength(2);
  });

  it("does not touch a watch that was begun since", async () => {
    const api = new FakeApi();
    follow(api, "a").leave();
    const b = follow(api, "b");
    await settle();
    const c = follow(api, "c");
    theWatch(api).onUp({ resumed: false });
    expect([b.told, c.told]).toEqual([["up"], ["up"]]);
  });

  it("of one lock by another's hand is heeded within the same round", () => {
    const api = new FakeApi();
    const others: { leave(): void }[] = [];
    follow(api, "a", { up: () => others.forEach((other) => void other.leave()) });
    const b = follow(api, "b");
    others.push(b);
    theWatch(api).onUp({ resumed: false });
    expect(b.told).toEqual([]);
  });

  it("of one whose owner throws is only its own: it is down, and the others go on", async () => {
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
    expect([before.told, bad.told, after.told]).toEqual([["up"], [["down", "server"]], ["up", "x"]]);
    expect(watch.signal.aborted).toBe(false);
    for (const one of [before, after]) one.leave();
    expect(watch.signal.aborted).toBe(true);
  });

  it("of a client that was closed is told to all, and nothing is left unhandled", async () => {
    const api = new FakeApi();
    api.fail = () => new KubeError("Aborted", "the client was closed");
    const all = [follow(api, "a"), follow(api, "b")];
    await settle();
    for (const { told } of all) expect(told).toEqual([["down", "timeout"]]);
    api.fail = undefined;
    const c = follow(api, "c");
    theWatch(api).onUp({ resumed: false });
    expect(c.told).toEqual(["up"]);
  });
});

describe("shareWatch", () => {
  it("is refused without a client to share, along with all else that is wrong", () => {
    expect(() => new LeaseLock({ name: "A", namespace: "ns", shareWatch: true })).toThrow(
      /^Cannot use the Lease as a lock: name must be .*, but is "A"; shareWatch needs client; pass the same client to each of these locks\.$/,
    );
  });

  it("is true or false", () => {
    const options = { name: "a", namespace: "ns", client: new FakeApi().client, shareWatch: "yes" };
    expect(() => new LeaseLock(options as never)).toThrow('shareWatch must be true or false, but is "yes"');
  });
});
