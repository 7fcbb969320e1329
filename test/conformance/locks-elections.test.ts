// Elections with every kind of lock, on the sandbox and on a real API server.

import type { ElectionOptions } from "@tenure/election";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { describeElections } from "./elections-contract.ts";
import { connectForLocks, eventually, type LockTarget, lockKinds } from "./locks-target.ts";
import { leads, type Replica, Replicas } from "./replicas.ts";
import type { Body, Target } from "./target.ts";

let connection: LockTarget;
let target: Target;

beforeAll(async () => {
  connection = await connectForLocks();
  ({ target } = connection);
}, 60_000);
afterAll(() => connection?.close());

describe.each(lockKinds)("elections with a $kind", { timeout: 60_000 }, ({ places, make }) => {
  const name = "my-lock";
  const contentType = "application/merge-patch+json";
  let namespace: string;
  let paths: string[];
  let replicas: Replicas;
  let usedKubeconfig: string;

  beforeEach(async () => {
    namespace = await target.namespace();
    paths = places.map((place) => place.path(namespace, name));
    replicas = new Replicas(() => make({ name, namespace, kubeconfig: usedKubeconfig }));
  });
  afterEach(() => replicas.stop());

  function start(
    identity: string,
    kubeconfig = connection.kubeconfig,
    options: Partial<ElectionOptions> = {},
  ): Replica {
    usedKubeconfig = kubeconfig;
    return replicas.start(identity, options);
  }

  const stored = (): Promise<Body[]> =>
    Promise.all(paths.map(async (path) => (await target.request("GET", path)).body));

  describeElections(async () => ({
    connect: () => make({ name, namespace, kubeconfig: connection.kubeconfig }),
    annotate(annotations) {
      // With a MigrationLock, an operator needs to know only the new object.
      const path = paths.at(-1) as string;
      return target.request("PATCH", path, { metadata: { annotations } }, { contentType });
    },
    annotations: async () => (await stored()).slice(-1).map(({ metadata }) => metadata.annotations),
    async transitions() {
      const lock = (await stored()).at(-1);
      const json = lock?.metadata.annotations?.["control-plane.alpha.kubernetes.io/leader"];
      return String(json ? JSON.parse(json).leaderTransitions : lock?.spec.leaseTransitions);
    },
    remove: () => Promise.all(paths.map((path) => target.request("DELETE", path))),
  }));

  it("labels and annotations of others are kept on acquisition, renewal and release", async () => {
    const before = start("before");
    await leads(before);
    await before.stop();
    const theirs = { labels: { team: "x" }, annotations: { "example.com/note": "keep me" } };
    await Promise.all(
      paths.map((path) => target.request("PATCH", path, { metadata: theirs }, { contentType })),
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

  it("get, update and watch on the name, and create, are enough permissions; each says once that operators do not see it", async () => {
    const kubeconfig = await connection.serviceAccount(namespace, rulesWithout());
    const replica = start("a", kubeconfig);
    await leads(replica);
    const other = start("b", kubeconfig);
    await eventually(() => other.election.leader === "a" || other.errors.length > 0, "the other one waits");
    await replica.stop();
    await leads(other);
    await other.stop();
    const notShown = expect.stringMatching(/^Cannot show this candidate to operators: Cannot patch leases/);
    expect([replica.errors, other.errors]).toEqual([[notShown], [notShown]]);
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
      const { apiGroup, resource } = places[0] as (typeof places)[number];
      const named = verb === "create" ? "" : `resourceNames: ["${name}"], `;
      const rules = places.map(
        (place) =>
          `{apiGroups: ["${place.apiGroup}"], resources: ["${place.resource}"], ${named}verbs: ["${verb}"]}`,
      );
      // On a busy machine, a request with such a short lease may time out first.
      const told = () =>
        replica.errors.find((error) => rules.some((rule) => error.includes(`Add to its Role: ${rule}`)));
      await eventually(() => told() !== undefined, "the missing rule is reported");
      const full = apiGroup === "" ? resource : `${resource}.${apiGroup}`;
      if (places.length === 1) expect(told()).toContain(`Cannot ${verb} ${full}`);
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
    const replica = start("a", kubeconfig, { announce: true, register: false });
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
