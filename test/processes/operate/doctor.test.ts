/**
 * `tenure doctor` as a process: it finds each fault, with its fix, and nothing else; and nothing in healthy set-ups. Runs on the
 * sandbox, and on a real kube-apiserver (npm run test:kube -- doctor).
 */
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { checkRunBuild } from "../run/replicas.ts";
import { endAll, start, TestCluster } from "./commands.ts";
import { createPrinted, examine, planted } from "./examination.ts";
import type { Fault } from "./faults/fault.ts";
import { faults } from "./faults.ts";
import { startFlawed } from "./flawed-server.ts";
import { election } from "./healthy.ts";
import { setups } from "./healthy-setups.ts";

let cluster: TestCluster;
beforeAll(async () => {
  checkRunBuild();
  cluster = await TestCluster.start();
}, 60_000);
afterEach(endAll);
afterAll(() => cluster?.close());

describe("finds nothing in a healthy set-up", () => {
  it.each(setups)("$name", async ({ plant, examine: name = election, hints = [] }) => {
    const { namespace } = await planted(cluster, plant);
    const examined = await examine({ name, namespace, kubeconfig: cluster.kubeconfig });
    expect(examined.findings).toEqual([]);
    expect(examined.hints.map(({ check }) => check)).toEqual(hints);
    expect(examined.code).toBe(0);
  });

  it("and has looked at everything", async () => {
    const { namespace } = await planted(cluster);
    const { checks } = await examine({ namespace, kubeconfig: cluster.kubeconfig });
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
      "services",
    ])
      expect(looked).toContain(check);
  });

  it("and prints that", async () => {
    const { namespace, pods } = await planted(cluster);
    const { code, out } = await cluster.tenure("doctor", "-n", namespace);
    expect(out).toContain(`✓ holder       ${namespace}/${election}: ${pods[0]} leads`);
    expect(out).toMatch(/\n\nNo problems found\.\n$/);
    expect(code).toBe(0);
  });
});

describe("finds nothing in what tenure manifests prints", () => {
  it.each([
    ["--traffic=none"],
    ["--traffic=label", "--port=80"],
    ["--traffic=endpointslice", "--port=80"],
    ["--traffic=configmap", "--port=80"],
    ["--traffic=ready-file", "--port=80"],
    ["--mode=sidecar"],
    ["--mode=sidecar", "--traffic=label", "--port=80"],
  ])("%s %s %s", async (...flags) => {
    const child = flags.includes("--mode=sidecar") ? [] : ["--", "node", "worker.js"];
    const { namespace } = await planted(cluster, (world) => {
      world.isEmpty = true;
      world.others = [];
    });
    const args = ["--name", election, "--namespace", namespace, "--image", "example.com/billing:1", ...flags];
    const { out, err } = await start(["manifests", ...args, ...child]).ran;
    expect(err).toBe("");
    await createPrinted({ cluster, namespace }, out);
    expect((await examine({ namespace, kubeconfig: cluster.kubeconfig })).findings).toEqual([]);
  });
});

async function examineFault(fault: Fault) {
  const world = await planted(cluster, fault.plant);
  const { kubeconfig, folder } = cluster;
  const end = await fault.after?.(world);
  const flawed =
    fault.flaw && (await startFlawed(kubeconfig, join(folder, `flawed-${world.namespace}`), fault.flaw));
  try {
    return await examine({
      ...(fault.examine !== undefined && { name: fault.examine }),
      namespace: fault.namespace ?? world.namespace,
      kubeconfig: flawed?.kubeconfig ?? kubeconfig,
      flags: fault.flags?.(world) ?? [],
    });
  } finally {
    flawed?.close();
    await end?.();
  }
}

describe.each(Object.entries(faults))("finds a fault, and nothing else: %s", (_group, table) => {
  it.each(table)("$name", async (fault) => {
    const { code, findings } = await examineFault(fault);
    expect(findings).toEqual([expect.objectContaining({ check: fault.check })]);
    const [{ what, fix, command } = { what: "", fix: "", command: "" }] = findings;
    expect(what).toMatch(fault.what);
    expect(`${fix}\n${command ?? ""}`).toMatch(fault.fix);
    expect(code).toBe(1);
  });
});

it("a hint does not affect the exit code", async () => {
  const { namespace } = await planted(cluster, (world) => {
    world.deployment.spec.replicas = 1;
    world.pods = world.pods.slice(0, 1);
    world.budget = undefined;
  });
  const { code, hints } = await examine({ namespace, kubeconfig: cluster.kubeconfig });
  expect(hints).toEqual([expect.objectContaining({ check: "replicas" })]);
  expect(code).toBe(0);
});

it("ignores the other keys of a ConfigMap that names the leader", async () => {
  const { namespace } = await planted(cluster, (world) => {
    world.deployment.spec.template.spec.containers[0].args.splice(1, 0, "--leader-configmap=config/who");
    world.rules.push({ apiGroups: [""], resources: ["configmaps"], verbs: ["create", "get", "update"] });
    const metadata = { name: "config", labels: { "tenure.dev/election": election } };
    world.others.push({ kind: "ConfigMap", metadata, data: { who: world.pods[0], leader: "not ours" } });
  });
  expect((await examine({ namespace, kubeconfig: cluster.kubeconfig })).findings).toEqual([]);
});
