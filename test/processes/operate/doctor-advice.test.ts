/** The commands that `tenure doctor` prints: each is run as printed, and then the doctor finds nothing. Runs on both API servers. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { checkRunBuild } from "../run/replicas.ts";
import { endAll, start, TestCluster } from "./commands.ts";
import { type Check, examine, planted, run } from "./examination.ts";
import { faults } from "./faults.ts";
import type { World } from "./healthy.ts";

let cluster: TestCluster;
beforeAll(async () => {
  checkRunBuild();
  cluster = await TestCluster.start();
}, 60_000);
afterEach(endAll);
afterAll(() => cluster?.close());

const table = Object.values(faults).flat();
/** Faults whose command repairs them at once, without controllers that act on it. */
const repairable = [
  "A verb is missing in the Role of a workload on tenure",
  "A verb is missing in the Role of a workload on client-go",
  "A right that a flag needs is missing",
  "The ServiceAccount does not exist",
  "The token of the ServiceAccount is not mounted",
  "Only the leader is Ready, and a rollout waits for the others",
  "The Deployment of a tutorial hangs: its program writes `/tmp/ready` on the leader",
  "The Deployment of a tutorial hangs: a script compares the pod with a ConfigMap",
  "Only the leader of a StatefulSet is Ready",
  "A PodDisruptionBudget blocks every drain",
  "A PodDisruptionBudget keeps the only Ready pod, the leader, on its node",
  "The grace period ends before the child is stopped",
  "The label of the leader is on another pod",
  "Two pods have the label of the leader",
  "A Service reaches standbys",
  "The Service of `--service` has a selector",
  "An EndpointSlice sends traffic to another pod",
  "The leader ignores the order to step down",
];

describe("the printed command ends the finding", () => {
  it.each(repairable)("%s", async (name) => {
    const fault = table.find((each) => each.name === name);
    if (!fault) throw new Error(`there is no fault "${name}"`);
    const world = await planted(cluster, fault.plant);
    await fault.after?.(world);
    const where = {
      ...(fault.examine !== undefined && { name: fault.examine }),
      namespace: world.namespace,
      kubeconfig: cluster.kubeconfig,
    };
    const { findings } = await examine(where);
    expect(findings).toHaveLength(1);
    await run((findings[0] as Check).command ?? "false");
    // The order may have taken longer than a lease. The leader would have renewed it.
    await renew(world);
    expect((await examine(where)).findings).toEqual([]);
  });

  it("the budget of the hint is one that the doctor accepts", async () => {
    const { namespace } = await planted(cluster, (world) => {
      world.budget = undefined;
    });
    const { hints } = await examine({ namespace, kubeconfig: cluster.kubeconfig });
    expect(hints).toEqual([expect.objectContaining({ check: "replicas" })]);
    await run((hints[0] as Check).command ?? "false");
    const after = await examine({ namespace, kubeconfig: cluster.kubeconfig });
    expect([after.findings, after.hints]).toEqual([[], []]);
  });
});

async function renew({ cluster: { client }, namespace }: World): Promise<void> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
  const { items } = await client.request<{ items: { metadata: { name: string }; spec: object }[] }>({
    method: "GET",
    path,
  });
  const renewTime = new Date().toISOString().replace("Z", "000Z");
  for (const { metadata } of items)
    await client.request({
      method: "PATCH",
      path: `${path}/${metadata.name}`,
      contentType: "application/merge-patch+json",
      body: { spec: { renewTime } },
    });
}

it("a new namespace is created with the printed command", async () => {
  const namespace = `doctor-new-${process.pid}`;
  const { findings } = await examine({ namespace, kubeconfig: cluster.kubeconfig });
  await run((findings[0] as Check).command ?? "false");
  const after = await examine({ name: null, namespace, kubeconfig: cluster.kubeconfig });
  expect(after.findings).toEqual([]);
});

it("the printed text contains commands that can be pasted, with KUBECONFIG as the user has it", async () => {
  const { namespace } = await planted(cluster, (world) => {
    world.rules.pop();
  });
  const { out } = await start(["doctor", "billing", "-n", namespace], { KUBECONFIG: cluster.kubeconfig }).ran;
  const [, command = "false"] = /^ {4}run: ([\s\S]*?\nEOF)$/m.exec(out) ?? [];
  expect(command).toMatch(new RegExp(`^kubectl apply -f - -n ${namespace} <<'EOF'\n`));
  await run(`export KUBECONFIG=${cluster.kubeconfig}; ${command}`);
  expect((await examine({ namespace, kubeconfig: cluster.kubeconfig })).findings).toEqual([]);
});
