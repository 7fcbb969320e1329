// Elections with every kind of lock, on the sandbox and on a real API server.

import { Election, type ElectionOptions, type Lock } from "@tenure/election";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connectForLocks, eventually, type LockTarget, lockKinds } from "./locks-target.ts";
import type { Body, Target } from "./target.ts";

/** A long lease for slow machines, because only one test waits until it expires. Renewed often, so that tests see renewals. */
const timings = { leaseDuration: "60s", renewDeadline: "50s", retryPeriod: "500ms", renewInterval: "200ms" };

let connection: LockTarget;
let target: Target;

beforeAll(async () => {
  connection = await connectForLocks();
  ({ target } = connection);
}, 60_000);
afterAll(() => connection?.close());

describe.each(lockKinds)("elections with a $kind", { timeout: 60_000 }, ({ places, make }) => {
  const name = "my-lock";
  let namespace: string;
  let paths: string[];
  let leaders: string[];
  let mostLeaders: number;
  let replicas: Replica[];

  interface Replica {
    readonly election: Election;
    readonly tokens: bigint[];
    readonly ended: string[];
    readonly errors: string[];
    readonly done: Promise<void>;
    stop(): Promise<void>;
  }

  beforeEach(async () => {
    namespace = await target.namespace();
    paths = places.map((place) => place.path(namespace, name));
    leaders = [];
    mostLeaders = 0;
    replicas = [];
  });
  afterEach(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    expect(mostLeaders).toBeLessThanOrEqual(1);
  });

  function start(
    identity: string,
    kubeconfig = connection.kubeconfig,
    options: Partial<ElectionOptions> = {},
  ): Replica {
    const lock: Lock = make({ name, namespace, kubeconfig });
    const election = new Election({ ...timings, lock, identity, onOverrun: "report", ...options });
    const tokens: bigint[] = [];
    const ended: string[] = [];
    const errors: string[] = [];
    election.on("term-ended", ({ reason, released }) =>
      ended.push(`${reason}${released ? " released" : ""}`),
    );
    election.on("error", ({ error }) => errors.push(error.message));
    const shutdown = new AbortController();
    const work = async ({ signal, token }: { signal: AbortSignal; token: bigint }) => {
      leaders.push(identity);
      mostLeaders = Math.max(mostLeaders, leaders.length);
      tokens.push(token);
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      leaders.splice(leaders.indexOf(identity), 1);
    };
    const done = election.run(work, shutdown);
    done.catch(() => {});
    const stop = async () => {
      shutdown.abort();
      await done.catch(() => {});
    };
    const replica = { election, tokens, ended, errors, done, stop };
    replicas.push(replica);
    return replica;
  }

  const stored = (): Promise<Body[]> =>
    Promise.all(paths.map(async (path) => (await target.request("GET", path)).body));
  const leads = (replica: Replica, term = 1) =>
    eventually(
      () => replica.tokens.length >= term && replica.election.term !== undefined,
      `term ${term} begins`,
    );

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
    const replica = start("a", undefined, { leaseDuration: "6s", renewDeadline: "4s" });
    await leads(replica);
    await Promise.all(paths.map((path) => target.request("DELETE", path)));
    await eventually(() => replica.ended.length > 0, "the term ends");
    expect(replica.ended[0]).toMatch(/^(lock-deleted|taken-over)$/);
    await leads(replica, 2);
    expect(replica.tokens[1]).toBeGreaterThan(replica.tokens[0] as bigint);
  });

  it("labels and annotations of others are kept on acquisition, renewal and release", async () => {
    const before = start("before");
    await leads(before);
    await before.stop();
    const theirs = { labels: { team: "x" }, annotations: { "example.com/note": "keep me" } };
    await Promise.all(
      paths.map((path) =>
        target.request("PATCH", path, { metadata: theirs }, { contentType: "application/merge-patch+json" }),
      ),
    );
    const replica = start("a");
    await leads(replica);
    let renewals = 0;
    replica.election.on("renewed", () => renewals++);
    await eventually(() => renewals >= 2, "two renewals");
    for (const { metadata } of await stored()) expect(metadata).toMatchObject(theirs);
    await replica.stop();
    for (const { metadata, spec } of await stored()) {
      expect(metadata).toMatchObject(theirs);
      const json = metadata.annotations["control-plane.alpha.kubernetes.io/leader"];
      expect((json ? JSON.parse(json) : spec).holderIdentity).toBe("");
    }
  });

  it("an operator pauses, resumes and transfers leadership with annotations", async () => {
    const first = start("a");
    await leads(first);
    const [second, third] = [start("b"), start("c")];
    await eventually(
      () => [second, third].every(({ election }) => election.leader === "a"),
      "the others know who leads",
    );
    await order({ "tenure.dev/paused": "true" });
    await eventually(() => leaders.length === 0 && first.election.leader === undefined, "nobody leads");
    expect(first.ended).toEqual(["step-down released"]);
    await order({ "tenure.dev/paused": null });
    await eventually(() => leaders.length === 1, "somebody leads again");
    const [leader] = leaders;
    const chosen = leader === "c" ? second : third;
    let renewals = 0;
    const current = replicas.find(({ election }) => election.identity === leader) as Replica;
    current.election.on("renewed", () => renewals++);
    const terms = current.ended.length;
    await order({ "tenure.dev/transfer": `${await transitions()}/typo` });
    const seen = renewals;
    await eventually(() => renewals > seen + 1, "the leader renews, and nobody answers to that name");
    expect([leaders, current.ended.length]).toEqual([[leader], terms]);
    await order({ "tenure.dev/transfer": `${await transitions()}/${chosen === third ? "c" : "b"}` });
    await leads(chosen);
    expect(leaders).toEqual([chosen === third ? "c" : "b"]);
    await order({ "tenure.dev/step-down": await transitions() });
    await eventually(() => chosen.ended.length > 0, "it steps down");
    expect(chosen.ended).toEqual(["step-down released"]);
  });

  /** Sets annotations on the lock; null removes one. */
  async function order(annotations: Record<string, string | null>): Promise<void> {
    const contentType = "application/merge-patch+json";
    // With a MigrationLock, an operator needs to know only the new object.
    const path = paths.at(-1) as string;
    await target.request("PATCH", path, { metadata: { annotations } }, { contentType });
  }

  async function transitions(): Promise<string> {
    const lock = (await stored()).at(-1);
    const json = lock?.metadata.annotations?.["control-plane.alpha.kubernetes.io/leader"];
    return String(json ? JSON.parse(json).leaderTransitions : lock?.spec.leaseTransitions);
  }

  it("get, update and watch on the name, and create, are enough permissions", async () => {
    const kubeconfig = await connection.serviceAccount(namespace, rulesWithout());
    const replica = start("a", kubeconfig);
    await leads(replica);
    const other = start("b", kubeconfig);
    await eventually(() => other.election.leader === "a" || other.errors.length > 0, "the other one waits");
    await replica.stop();
    await leads(other);
    await other.stop();
    expect([...replica.errors, ...other.errors]).toEqual([]);
  });

  it.each(["get", "create", "update", "watch"])(
    "without %s an error names the missing rule",
    async (verb) => {
      const kubeconfig = await connection.serviceAccount(namespace, rulesWithout(verb));
      // A short lease: a lock that cannot be updated cannot be released, which is retried until the hard deadline.
      const replica = start("a", kubeconfig, {
        leaseDuration: "2s",
        renewDeadline: "1.4s",
        retryPeriod: "300ms",
      });
      await eventually(() => replica.errors.length > 0, "an error is reported");
      const { apiGroup, resource } = places[0] as (typeof places)[number];
      const named = verb === "create" ? "" : `resourceNames: ["${name}"], `;
      const rules = places.map(
        (place) =>
          `{apiGroups: ["${place.apiGroup}"], resources: ["${place.resource}"], ${named}verbs: ["${verb}"]}`,
      );
      expect(rules.some((rule) => replica.errors[0]?.includes(`Add to its Role: ${rule}`))).toBe(true);
      const full = apiGroup === "" ? resource : `${resource}.${apiGroup}`;
      if (places.length === 1) expect(replica.errors[0]).toContain(`Cannot ${verb} ${full}`);
      // Without a watch the lock is polled. Without the other verbs there is no term, or none that lasts.
      if (verb === "watch") await leads(replica);
    },
  );

  it("failWhenDenied rejects with the missing rule", async () => {
    const kubeconfig = await connection.serviceAccount(namespace, rulesWithout("get"));
    await expect(start("a", kubeconfig, { failWhenDenied: true }).done).rejects.toMatchObject({
      code: "Denied",
      message: expect.stringContaining("Add to its Role: {apiGroups: ["),
    });
  });

  it("announce records Events on the lock", async () => {
    const replica = start("a", connection.kubeconfig, { announce: true });
    await leads(replica);
    await replica.stop();
    const announced = async (): Promise<Body[]> =>
      (await target.request("GET", `/api/v1/namespaces/${namespace}/events`)).body.items;
    await eventually(async () => (await announced()).length === 2, "two events");
    const [lock] = (await stored()).slice(-1);
    const events = (await announced()).sort((x, y) => x.message.localeCompare(y.message));
    expect(events.map(({ message }: Body) => message)).toEqual(["a became leader", "a stopped leading"]);
    for (const event of events) {
      expect(event).toMatchObject({
        type: "Normal",
        reason: "LeaderElection",
        involvedObject: { kind: lock.kind, name, namespace, uid: lock.metadata.uid },
      });
    }
    expect(replica.errors).toEqual([]);
  });

  it("announce without permission emits an error, and the election goes on", async () => {
    const kubeconfig = await connection.serviceAccount(namespace, rulesWithout());
    const replica = start("a", kubeconfig, { announce: true });
    await leads(replica);
    await eventually(() => replica.errors.length > 0, "an error is reported");
    expect(replica.errors[0]).toContain(
      'Add to its Role: {apiGroups: [""], resources: ["events"], verbs: ["create"]}',
    );
    expect(replica.election.term?.isValid()).toBe(true);
  });

  /** The rules that an election needs, without one verb. RBAC cannot limit create to a name. */
  function rulesWithout(missing?: string): object[] {
    return places.flatMap(({ apiGroup, resource }) => [
      {
        apiGroups: [apiGroup],
        resources: [resource],
        resourceNames: [name],
        verbs: ["get", "update", "watch"].filter((verb) => verb !== missing),
      },
      ...(missing === "create" ? [] : [{ apiGroups: [apiGroup], resources: [resource], verbs: ["create"] }]),
    ]);
  }
});
