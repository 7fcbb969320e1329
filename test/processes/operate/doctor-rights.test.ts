/** `tenure doctor` for a user with few rights: what they may not read is never called missing. Runs on both API servers. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { checkRunBuild } from "../run/replicas.ts";
import { endAll, TestCluster } from "./commands.ts";
import { accountWith, type Check, examine, planted, run } from "./examination.ts";

let cluster: TestCluster;
beforeAll(async () => {
  checkRunBuild();
  cluster = await TestCluster.start();
}, 60_000);
afterEach(endAll);
afterAll(() => cluster?.close());

const groups: Readonly<Record<string, string>> = {
  leases: "coordination.k8s.io",
  deployments: "apps",
  statefulsets: "apps",
  daemonsets: "apps",
  poddisruptionbudgets: "policy",
  endpointslices: "discovery.k8s.io",
};
const kinds = [
  "leases",
  "configmaps",
  "endpoints",
  "events",
  "pods",
  "services",
  "serviceaccounts",
  "deployments",
  "statefulsets",
  "daemonsets",
  "poddisruptionbudgets",
  "endpointslices",
];

/** All rights to read, without some: `get leases`, `list pods`. */
function rulesWithout(...missing: string[]): object[] {
  return kinds.flatMap((kind) =>
    ["get", "list", "watch"]
      .filter((verb) => !missing.includes(`${verb} ${kind}`))
      .map((verb) => ({ apiGroups: [groups[kind] ?? ""], resources: [kind], verbs: [verb] })),
  );
}

interface Row {
  readonly missing: readonly string[];
  /** Null for the whole namespace. */
  readonly name: string | null;
  /** The checks and the sentences of all findings. */
  readonly findings: readonly [check: string, what: string][];
  /** Sentences of what was skipped, among others. */
  readonly skipped?: readonly string[];
}

const everything = kinds.flatMap((kind) => ["get", "list", "watch"].map((verb) => `${verb} ${kind}`));
const unknownElection =
  'you may not get leases "billing" in namespace "%", so whether the election exists and who leads is unknown';
const unknownElections = 'you may not list leases in namespace "%", so which elections exist is unknown';
const unseen = (kind: string, what: string) =>
  `you may not list ${kind} in namespace "%", so ${what} were not checked`;

const rows: readonly Row[] = [
  { missing: [], name: "billing", findings: [] },
  { missing: ["get leases"], name: "billing", findings: [["access", unknownElection]] },
  {
    missing: ["get leases", "list leases", "watch leases"],
    name: "billing",
    findings: [["access", unknownElection]],
  },
  {
    missing: ["list leases"],
    name: "billing",
    findings: [],
    skipped: ['you may not list leases in namespace "%", so the other candidates were not checked'],
  },
  { missing: ["list leases"], name: null, findings: [["access", unknownElections]] },
  {
    missing: ["watch leases"],
    name: "billing",
    findings: [],
    skipped: ["you may not watch leases, so whether a watch works is unknown"],
  },
  {
    missing: ["list pods"],
    name: "billing",
    findings: [],
    skipped: [unseen("pods", "pods, identities and labels")],
  },
  {
    missing: ["list deployments"],
    name: "billing",
    findings: [],
    skipped: [unseen("deployments", "Deployments")],
  },
  {
    missing: ["list pods", "list deployments"],
    name: null,
    findings: [],
    skipped: [unseen("pods", "pods, identities and labels"), unseen("deployments", "Deployments")],
  },
  {
    missing: ["list services", "list serviceaccounts", "list poddisruptionbudgets"],
    name: "billing",
    findings: [],
    skipped: [
      unseen("services", "Services"),
      unseen("serviceaccounts", "ServiceAccounts"),
      unseen("poddisruptionbudgets", "budgets"),
    ],
  },
  {
    missing: ["list endpointslices", "list configmaps"],
    name: "billing",
    findings: [],
    skipped: [
      unseen("endpointslices", "EndpointSlices"),
      unseen("configmaps", "ConfigMaps that name the leader"),
    ],
  },
  { missing: everything, name: "billing", findings: [["access", unknownElection]] },
  { missing: everything, name: null, findings: [["access", unknownElections]] },
];

const said = (namespace: string, text: string) => text.replaceAll("%", namespace);

describe("a healthy election, and a user without the right to", () => {
  it.each(rows)("$missing (doctor $name)", async ({ missing, name, findings, skipped = [] }) => {
    const world = await planted(cluster);
    const { namespace } = world;
    const kubeconfig = await accountWith(world, rulesWithout(...missing));
    const examined = await examine({ name, namespace, kubeconfig });
    expect(examined.findings.map(({ check, what }) => [check, what])).toEqual(
      findings.map(([check, what]) => [check, said(namespace, what)]),
    );
    const skips = examined.skipped.map(({ what }) => what);
    for (const what of skipped) expect(skips).toContain(said(namespace, what));
    expect(examined.hints).toEqual([]);
    expect(examined.out).not.toContain("does not exist");
    // Every sentence about missing rights comes with the rule and the user.
    const about = (check: Check) => check.check === "access" || check.check === "surroundings";
    for (const { fix } of examined.checks.filter(about)) {
      expect(fix).toMatch(/resources: \["[a-z]+"\]/);
      expect(fix).toMatch(
        new RegExp(`system:serviceaccount:${namespace}:reader|name: reader, namespace: ${namespace}`),
      );
    }
    expect(examined.code).toBe(findings.length > 0 ? 1 : 0);
  });
});

describe("an election that does not exist", () => {
  const rename = { name: "biling" };
  it("is called missing if the user may read Leases", async () => {
    const world = await planted(cluster);
    const kubeconfig = await accountWith(world, rulesWithout());
    const { findings } = await examine({ ...rename, namespace: world.namespace, kubeconfig });
    expect(findings.find(({ check }) => check === "lock")).toMatchObject({
      what: "the election does not exist, and no workload takes part in it",
      fix: "did you mean billing?",
    });
  });

  it("is not, if the lock may be of a kind that the user may not read", async () => {
    const world = await planted(cluster);
    const kubeconfig = await accountWith(world, rulesWithout("get configmaps", "get endpoints"));
    const { findings } = await examine({ ...rename, namespace: world.namespace, kubeconfig });
    expect(findings).toEqual([
      expect.objectContaining({
        check: "lock",
        what: "there is no Lease of this name. You may not get configmaps and endpoints, so whether one of those is the lock is unknown",
      }),
    ]);
  });
});

it("an administrator who applies the printed manifests ends the finding", async () => {
  const world = await planted(cluster);
  const { namespace } = world;
  const kubeconfig = await accountWith(world, rulesWithout("get leases", "watch leases"));
  const before = await examine({ namespace, kubeconfig });
  const [, manifests = ""] = /to apply this:\n([\s\S]*)$/.exec(before.findings[0]?.fix ?? "") ?? [];
  await run(`kubectl apply --kubeconfig ${cluster.kubeconfig} -f -`, manifests);
  expect((await examine({ namespace, kubeconfig })).findings).toEqual([]);
});
