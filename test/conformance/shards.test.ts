// Shards and semaphores with several members in one process, on the sandbox and on a real API server. A witness sees all work.

import { Semaphore, type SemaphoreOptions, Shards, type ShardsOptions, type Term } from "@tenure/election";
import { KubeClient, loadConfig } from "@tenure/kube";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connectForLocks, eventually, type LockTarget } from "./locks-target.ts";

const timings = {
  leaseDuration: "20s",
  renewDeadline: "15s",
  retryPeriod: "500ms",
  cooldown: "100ms",
} as const;
/** For tests that wait until a lease expires. */
const shortLease = { leaseDuration: "4s", renewDeadline: "3s" } as const;

let connection: LockTarget;
let namespace: string;
let witness: Witness;
let members: Member[] = [];

beforeAll(async () => {
  connection = await connectForLocks();
}, 60_000);
afterAll(() => connection?.close());
beforeEach(async () => {
  namespace = await connection.target.namespace();
  witness = new Witness();
  members = [];
});
afterEach(async () => {
  await Promise.all(members.map((member) => member.leave()));
});

/** Records who works on what, and every overlap. */
class Witness {
  readonly overlaps: string[] = [];
  readonly tokens = new Map<string, string>();
  starts = 0;
  readonly #active = new Map<
    string,
    { readonly who: string; readonly start: bigint; readonly end: bigint }
  >();

  begin(
    who: string,
    key: string,
    range: { readonly start: bigint; readonly end: bigint },
    term: Term,
  ): () => void {
    this.starts += 1;
    for (const [other, active] of this.#active) {
      if (range.start < active.end && active.start < range.end)
        this.overlaps.push(`${key} of ${who} and ${other}`);
    }
    const last = this.tokens.get(key);
    if (last !== undefined && last >= term.token)
      this.overlaps.push(`${key} got token ${term.token} after ${last}`);
    this.tokens.set(key, term.token);
    const name = `${who} ${key}`;
    this.#active.set(name, { who, ...range });
    return () => this.#active.delete(name);
  }

  /** How many each works on. */
  get shares(): Readonly<Record<string, number>> {
    const shares: Record<string, number> = {};
    for (const { who } of this.#active.values()) shares[who] = (shares[who] ?? 0) + 1;
    return shares;
  }

  get sizes(): readonly number[] {
    return Object.values(this.shares).sort();
  }
}

interface Member {
  readonly shards: Shards;
  leave(): Promise<void>;
  /** It can neither send nor receive any more. */
  cutOff(): void;
}

function abortOf(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function join(identity: string, options: Partial<ShardsOptions> = {}): Member {
  const client = new KubeClient(() => loadConfig({ kubeconfig: connection.kubeconfig }));
  const shards = new Shards({
    name: "billing",
    count: 6,
    namespace,
    identity,
    client,
    onOverrun: "report",
    ...timings,
    ...options,
  });
  const controller = new AbortController();
  const running = shards.run(
    async (shard, term) => {
      const end = witness.begin(identity, `shard ${shard.index} of ${shard.count}`, shard.range, term);
      await abortOf(term.signal);
      end();
    },
    { signal: controller.signal },
  );
  const member = {
    shards,
    leave: async () => {
      controller.abort();
      await running;
      client.close();
    },
    cutOff: () => client.close(),
  };
  members.push(member);
  return member;
}

const isShared =
  (...sizes: readonly number[]) =>
  () =>
    JSON.stringify(witness.sizes) === JSON.stringify(sizes);

describe("shards", () => {
  it("are shared evenly by members that join, and given on by one that leaves", async () => {
    const a = join("a");
    await eventually(isShared(6), "a works on all shards");
    join("b");
    await eventually(isShared(3, 3), "a and b share");
    join("c");
    await eventually(isShared(2, 2, 2), "a, b and c share");
    expect(witness.starts).toBe(6 + 3 + 2);
    await a.leave();
    await eventually(isShared(3, 3), "b and c share");
    expect(witness.starts).toBe(6 + 3 + 2 + 2);
    expect(witness.overlaps).toEqual([]);
  });

  it("of a member that is cut off are taken over after its lease", async () => {
    const a = join("a", shortLease);
    join("b", shortLease);
    await eventually(isShared(3, 3), "a and b share");
    a.cutOff();
    await eventually(() => witness.shares.b === 6, "b works on all shards");
    expect(witness.overlaps).toEqual([]);
  });

  it("are not assigned twice if the map is deleted", async () => {
    const a = join("a");
    join("b");
    await eventually(isShared(3, 3), "a and b share");
    const before = witness.starts;
    await connection.target.request("DELETE", leasePath("billing.shards"));
    await eventually(() => witness.starts >= before + 6 && isShared(3, 3)(), "all shards are assigned again");
    expect(witness.overlaps).toEqual([]);
    expect(a.shards.assignment.map(({ identity }) => identity).sort()).toEqual(["a", "b"]);
  });

  it("survive that somebody removes the labels of their Leases", async () => {
    join("a");
    await eventually(isShared(6), "a works on all shards");
    const patch = { metadata: { labels: { "tenure.dev/shards": null } } };
    const contentType = "application/merge-patch+json";
    const before = witness.starts;
    await connection.target.request("PATCH", leasePath("billing.shards"), patch, { contentType });
    await eventually(() => witness.starts >= before + 6 && isShared(6)(), "a works on all shards again");
    join("b");
    await eventually(isShared(3, 3), "a and b share");
    expect(witness.overlaps).toEqual([]);
  });

  it("change their number when all members want another one", async () => {
    const a = join("a", { count: 2 });
    await eventually(isShared(2), "a works on both shards");
    join("b", { count: 5 });
    await eventually(isShared(1, 1), "the old count stays while a wants it");
    expect(witness.tokens.has("shard 0 of 5")).toBe(false);
    await a.leave();
    await eventually(() => witness.shares.b === 5, "b works on five shards");
    expect(witness.overlaps).toEqual([]);
  });

  it("are found by key, with their owner", async () => {
    const a = join("a", { count: 1 });
    await eventually(isShared(1), "a works on the shard");
    expect(a.shards.of("tenant-42")).toMatchObject({ owner: "a", shard: { index: 0, count: 1 } });
    expect(a.shards.of("tenant-42").shard.has("tenant-42")).toBe(true);
    expect([...a.shards.terms.values()].map((term) => term.isValid())).toEqual([true]);
  });

  it("start again with a greater token when their work ends by itself", async () => {
    const tokens: string[] = [];
    const client = new KubeClient(() => loadConfig({ kubeconfig: connection.kubeconfig }));
    const shards = new Shards({ name: "short", count: 1, namespace, identity: "a", client, ...timings });
    const controller = new AbortController();
    const running = shards.run(
      async (_shard, term) => {
        tokens.push(term.token);
        if (tokens.length === 3) await abortOf(term.signal);
      },
      { signal: controller.signal },
    );
    await eventually(() => tokens.length === 3, "the work starts three times");
    controller.abort();
    await running;
    client.close();
    expect([...tokens].sort()).toEqual(tokens);
    expect(new Set(tokens).size).toBe(3);
  });

  it("need no more rights than the documentation names", async () => {
    const rules = [
      {
        apiGroups: ["coordination.k8s.io"],
        resources: ["leases"],
        verbs: ["get", "list", "watch", "create", "update", "delete"],
      },
    ];
    const kubeconfig = await connection.serviceAccount(namespace, rules);
    const errors: string[] = [];
    const clients = ["a", "b"].map(() => new KubeClient(() => loadConfig({ kubeconfig })));
    const [a, b] = ["a", "b"].map((identity, index) =>
      join(identity, { client: clients[index] as KubeClient }),
    );
    for (const member of [a, b]) member?.shards.on("error", ({ error }) => errors.push(error.message));
    await eventually(isShared(3, 3), "a and b share");
    await a?.leave();
    await eventually(() => witness.shares.b === 6, "b works on all shards");
    await b?.leave();
    for (const client of clients) client.close();
    expect(errors.filter((message) => message.includes("forbidden"))).toEqual([]);
  });

  it("end the term of one when asked to, and start it again with a greater token", async () => {
    const a = join("a", { count: 2 });
    await eventually(isShared(2), "a works on both shards");
    const before = witness.tokens.get("shard 1 of 2") as string;
    a.shards.stepDown(1);
    await eventually(
      () => (witness.tokens.get("shard 1 of 2") as string) > before && isShared(2)(),
      "it starts again",
    );
    expect(witness.starts).toBe(3);
    expect(witness.overlaps).toEqual([]);
  });

  it("refuse a second process with the same identity", async () => {
    join("a", { renewInterval: "1s" });
    await eventually(isShared(6), "a works on all shards");
    const client = new KubeClient(() => loadConfig({ kubeconfig: connection.kubeconfig }));
    const twin = new Shards({ name: "billing", count: 6, namespace, identity: "a", client, ...timings });
    await expect(twin.run(() => {})).rejects.toThrow(/same identity/);
    client.close();
    expect(witness.overlaps).toEqual([]);
  });

  it("leave a map without members behind, and their leases are free", async () => {
    const a = join("a");
    await eventually(isShared(6), "a works on all shards");
    await a.leave();
    const { body } = await connection.target.request("GET", leasePath("billing.shards"));
    expect(JSON.parse(body.metadata.annotations["tenure.dev/map"])).toMatchObject({ count: 6, members: [] });
    const lease = await connection.target.request("GET", leasePath("billing.shards.a"));
    expect(lease.body.spec.holderIdentity ?? "").toBe("");
  });

  it("keep what others wrote on the map", async () => {
    join("a");
    await eventually(isShared(6), "a works on all shards");
    const patch = { metadata: { labels: { team: "blue" }, annotations: { note: "kept" } } };
    const contentType = "application/merge-patch+json";
    await connection.target.request("PATCH", leasePath("billing.shards"), patch, { contentType });
    join("b");
    await eventually(isShared(3, 3), "a and b share");
    const { body } = await connection.target.request("GET", leasePath("billing.shards"));
    expect(body.metadata).toMatchObject({ labels: { team: "blue" }, annotations: { note: "kept" } });
  });
});

describe("a semaphore", () => {
  const takePart = (
    identity: string,
    options: Partial<SemaphoreOptions> = {},
    worksMs = Number.POSITIVE_INFINITY,
  ) => {
    const client = new KubeClient(() => loadConfig({ kubeconfig: connection.kubeconfig }));
    const semaphore = new Semaphore({
      name: "crawler",
      permits: 2,
      namespace,
      identity,
      client,
      ...timings,
      ...options,
    });
    const controller = new AbortController();
    const running = semaphore.run(
      async (term, permit) => {
        const range = { start: BigInt(permit), end: BigInt(permit + 1) };
        const end = witness.begin(identity, `permit ${permit}`, range, term);
        if (Number.isFinite(worksMs)) await new Promise((resolve) => setTimeout(resolve, worksMs));
        else await abortOf(term.signal);
        end();
      },
      { signal: controller.signal },
    );
    const leave = async () => {
      controller.abort();
      await running;
      client.close();
    };
    members.push({ leave } as Member);
    return { semaphore, leave };
  };

  it("lets as many replicas work as it has permits, each with one", async () => {
    const replicas = ["a", "b", "c", "d"].map((identity) => takePart(identity));
    await eventually(isShared(1, 1), "two replicas work");
    await eventually(
      () => replicas.every(({ semaphore }) => semaphore.holders.length === 2),
      "all know the holders",
    );
    const working = replicas.find(({ semaphore }) => semaphore.term !== undefined);
    await working?.leave();
    await eventually(() => witness.starts === 3 && isShared(1, 1)(), "another replica gets the permit");
    expect(witness.overlaps).toEqual([]);
  });

  it("gives the permit of work that has ended to a replica that waits", async () => {
    for (const identity of ["a", "b", "c"]) takePart(identity, { permits: 1 }, 5);
    const seen = new Set<string>();
    await eventually(() => {
      for (const who of Object.keys(witness.shares)) seen.add(who);
      return seen.size === 3;
    }, "every replica gets its turn");
    expect(witness.overlaps).toEqual([]);
  });
});

function leasePath(name: string): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`;
}
