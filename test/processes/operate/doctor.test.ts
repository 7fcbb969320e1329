/** `tenure doctor` as a process: it finds each fault, with its fix, and nothing if there is none. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { checkRunBuild } from "../run/replicas.ts";
import { endAll, isSandbox, leases, record, TestCluster } from "./commands.ts";
import { faults } from "./faults.ts";
import { election, healthy, settle, type World } from "./healthy.ts";
import { StandIn } from "./stand-in.ts";

interface Check {
  readonly check: string;
  readonly verdict: string;
  readonly about?: string;
  readonly what: string;
  readonly fix?: string;
}

let cluster: TestCluster;
let count = 0;
beforeAll(async () => {
  checkRunBuild();
  cluster = await TestCluster.start();
}, 60_000);
afterEach(() => {
  endAll();
  if (isSandbox) cluster?.sandbox.faults.clear();
});
afterAll(() => cluster?.close());

async function examine(namespace: string, ...flags: string[]) {
  const { code, out, err } = await cluster.tenure(
    "doctor",
    election,
    "-n",
    namespace,
    "-o",
    "json",
    ...flags,
  );
  expect(err).toBe("");
  const { checks } = JSON.parse(out) as { checks: Check[] };
  const of = (verdict: string) => checks.filter((check) => check.verdict === verdict);
  return { code, findings: of("finding"), hints: of("hint"), checks };
}

/** A new namespace with this fault. */
async function planted(fault: (world: World) => void): Promise<World> {
  const world = healthy(cluster, `doctor-${++count}`);
  fault(world);
  await settle(world);
  return world;
}

describe("without a fault", () => {
  it("finds nothing in a workload with three replicas, and exits with 0", async () => {
    const { namespace } = await planted(() => {});
    const { code, findings, hints, checks } = await examine(namespace);
    expect(findings).toEqual([]);
    expect(hints).toEqual([]);
    expect(code).toBe(0);
    const looked = new Set(checks.filter(({ verdict }) => verdict === "ok").map(({ check }) => check));
    for (const check of [
      "credentials",
      "namespace",
      "latency",
      "watch",
      "clock",
      "rights",
      "timings",
      "holder",
      "orders",
      "flapping",
      "traffic",
      "rollout",
      "grace",
      "replicas",
    ])
      expect(looked).toContain(check);
  });

  it("finds nothing without an election or with candidates outside of the cluster, and prints that", async () => {
    const namespace = await cluster.namespace(`doctor-${++count}`);
    const empty = await cluster.tenure("doctor", "-n", namespace);
    expect([empty.code, empty.err]).toEqual([0, ""]);
    await cluster.create(leases(namespace), { metadata: { name: "laptop" }, spec: record("my-laptop") });
    const { code, out } = await cluster.tenure("doctor", "-n", namespace);
    expect(out).toContain(`✓ holder       ${namespace}/laptop: my-laptop leads`);
    expect(out).toMatch(/\n\nNo problems found\.\n$/);
    expect(code).toBe(0);
  });
});

describe("finds a fault, and nothing else", () => {
  it.each(faults)("$name", async ({ plant, check, what, fix }) => {
    const { namespace } = await planted(plant);
    const { code, findings } = await examine(namespace);
    expect(findings).toEqual([expect.objectContaining({ check, about: `${namespace}/${election}` })]);
    expect(findings[0]?.what).toMatch(what);
    expect(findings[0]?.fix).toMatch(fix);
    expect(code).toBe(1);
  });
});

describe("finds faults around the workload", () => {
  it("two locks of different kinds with different holders: an incomplete migration", async () => {
    const { namespace } = await planted(() => {});
    const { leaseTransitions, ...rest } = record("billing-old") as { leaseTransitions: number };
    const leader = JSON.stringify({ ...rest, leaderTransitions: leaseTransitions });
    const annotations = { "control-plane.alpha.kubernetes.io/leader": leader };
    await cluster.create(`/api/v1/namespaces/${namespace}/configmaps`, {
      metadata: { name: election, annotations },
    });
    const { findings } = await examine(namespace);
    const twins = findings.find(({ check }) => check === "twins");
    expect(twins?.what).toMatch(
      /there are two leaders: billing-7d9f8c6b5d-x1x1x holds the Lease, billing-old holds the ConfigMap/,
    );
    expect(twins?.fix).toContain("--lock=configmap+lease");
  });

  it("a process that renews with the name of a missing pod", async () => {
    const { namespace } = await planted((world) => {
      world.lease = undefined;
      Object.assign(world, { podLabels: () => ({ app: election }) });
    });
    const standIn = await StandIn.start(cluster.client, namespace, election, "billing-7d9f8c6b5d-ghost");
    try {
      const { findings } = await examine(namespace);
      expect(findings).toEqual([expect.objectContaining({ check: "identity" })]);
      expect(findings[0]?.what).toMatch(
        /a process renews the lock as billing-7d9f8c6b5d-ghost, but no pod has this name/,
      );
    } finally {
      await standIn.stop();
    }
  });

  it("an EndpointSlice that sends traffic to the wrong pod", async () => {
    const { namespace, pods } = await planted(() => {});
    await cluster.create(`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`, {
      metadata: {
        name: "billing-leader",
        labels: { "tenure.dev/election": election, "endpointslice.kubernetes.io/managed-by": "tenure.dev" },
      },
      addressType: "IPv4",
      endpoints: [
        { addresses: ["10.0.0.2"], conditions: { ready: true }, targetRef: { kind: "Pod", name: pods[1] } },
      ],
      ports: [],
    });
    const { findings } = await examine(namespace);
    expect(findings).toEqual([expect.objectContaining({ check: "traffic" })]);
    expect(findings[0]?.what).toContain(
      `EndpointSlice billing-leader sends traffic to ${pods[1]}, but ${pods[0]} leads`,
    );
  });

  it("a ConfigMap whose key for the leader names another pod, ignoring other keys", async () => {
    const publish = async (flag: string, data: Record<string, string>) => {
      const { namespace } = await planted((world) => {
        world.deployment.spec.template.spec.containers[0].args.splice(1, 0, `--leader-configmap=${flag}`);
        world.rules.push({ apiGroups: [""], resources: ["configmaps"], verbs: ["create", "get", "update"] });
      });
      const metadata = { name: "leader-config", labels: { "tenure.dev/election": election } };
      await cluster.create(`/api/v1/namespaces/${namespace}/configmaps`, { metadata, data });
      return (await examine(namespace)).findings;
    };
    const leader = "billing-7d9f8c6b5d-x1x1x";
    expect(await publish("leader-config", { leader, motto: "be kind" })).toEqual([]);
    expect(await publish("leader-config/who", { who: leader, leader: "not ours" })).toEqual([]);
    expect(await publish("leader-config", { leader: "other" })).toEqual([
      expect.objectContaining({
        check: "traffic",
        what: `ConfigMap leader-config names other, but ${leader} leads`,
      }),
    ]);
  });

  it("a namespace that does not exist", async () => {
    const { code, findings } = await examine("nowhere");
    expect(findings).toEqual([
      expect.objectContaining({ check: "namespace", what: '"nowhere" does not exist' }),
    ]);
    expect(findings[0]?.fix).toContain("kubectl create namespace nowhere");
    expect(code).toBe(1);
  });

  it.runIf(isSandbox)("an API server that is too slow for the timings", async () => {
    const { namespace } = await planted(() => {});
    cluster.sandbox.faults.add({ verb: "get", resource: "leases", effect: { latencyMs: 400 } });
    const { findings } = await examine(namespace, "--renew-deadline", "1s");
    expect(findings).toEqual([expect.objectContaining({ check: "latency" })]);
    expect(findings[0]?.what).toMatch(/a read took [45]\d\d ms, longer than a quarter of renewDeadline 1s/);
    expect(findings[0]?.fix).toContain("--preset low-load");
  });

  it.runIf(isSandbox).each(["stall-watch", "cut-watch"] as const)(
    "a watch that does not work: %s",
    async (effect) => {
      const { namespace } = await planted(() => {});
      cluster.sandbox.faults.add({ verb: "watch", resource: "leases", effect });
      const { findings } = await examine(namespace);
      expect(findings).toEqual([expect.objectContaining({ check: "watch" })]);
      expect(findings[0]?.fix).toContain("proxy or load balancer");
    },
  );

  it("missing rights of the account of --as", async () => {
    const { namespace } = await planted(() => {});
    const fine = await examine(namespace, "--as", `system:serviceaccount:${namespace}:${election}`);
    expect(fine.findings).toEqual([]);
    const { findings } = await examine(namespace, "--as", `system:serviceaccount:${namespace}:default`);
    expect(findings).toEqual([expect.objectContaining({ check: "rights" })]);
    expect(findings[0]?.what).toMatch(/may not create leases; get, update, watch leases "billing"/);
  });
});

describe("hints do not affect the exit code", () => {
  it("one replica", async () => {
    const { namespace } = await planted((world) => {
      world.deployment.spec.replicas = 1;
      Object.assign(world, { pods: world.pods.slice(0, 1) });
    });
    const { code, hints } = await examine(namespace);
    expect(hints).toEqual([expect.objectContaining({ check: "replicas" })]);
    expect(code).toBe(0);
  });
});
