/**
 * docs/tasks/add-to-a-deployment.md: a Deployment whose pods know no election gets one. `tenure doctor` names the old pods that work
 * beside the leader, and the commands of the page end them first.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Guide, openOnNodes, whyNoPods } from "./guide.ts";

const page = "docs/tasks/add-to-a-deployment.md";

let guide: Guide;
beforeEach(async () => {
  guide = await openOnNodes(page);
});
afterEach(() => guide?.close());

const podNames = async () =>
  (await guide.shell("kubectl get pods -l app=billing -o name")).split("\n").filter((name) => name !== "");

describe.skipIf(whyNoPods !== undefined)(page, () => {
  test("the first rollout, and the check for it", { timeout: 180_000 }, async () => {
    const [deployment = "", role = ""] = guide.programs("yaml");
    const command = 'command: ["tenure", "run", "--lease-lock-name=billing", "--", "node", "worker.js"]';
    expect(deployment).toContain(command);
    // Pods have no files of their own here, so the program is one that needs none.
    const elected = deployment.replace('"node", "worker.js"', '"sleep", "1000"');
    // A rollout that does not go on: the new pod is never ready, so the old ones stay.
    const stuck = elected.replace(
      "          env:\n",
      '          readinessProbe: { exec: { command: ["false"] } }\n          env:\n',
    );
    expect(stuck).not.toBe(elected);
    const unelected = deployment.replace(
      command,
      `command: ["sh", "-c", "trap 'exit 0' TERM; sleep 1000 & wait"]`,
    );
    for (const [name, text] of Object.entries({ role, elected, stuck, unelected }))
      await writeFile(join(guide.work, `${name}.yaml`), text);

    await guide.shell("kubectl create serviceaccount billing && kubectl apply -f role.yaml");
    await guide.shell(
      "kubectl apply -f unelected.yaml && kubectl rollout status deployment/billing --timeout=60s",
    );
    const old = await podNames();
    expect(old).toHaveLength(3);

    await guide.shell("kubectl apply -f stuck.yaml");
    const doctor = guide.block("tenure doctor billing -n default");
    await expect
      .poll(() => guide.shell(`${doctor.trim()} || true`), { timeout: 60_000, interval: 1_000 })
      .toContain("run without the election, beside the leader");
    const report = await guide.shell(`${doctor.trim()} || true`);
    for (const pod of old) expect(report).toContain(pod.replace("pod/", ""));
    expect(report).toContain("kubectl scale deployment/billing --replicas=0 -n default");

    await guide.run("kubectl scale deployment/billing");
    expect(await podNames()).toEqual([]);
    await guide.shell(
      "kubectl apply -f elected.yaml && kubectl rollout status deployment/billing --timeout=60s",
    );
    await expect
      .poll(() => guide.shell(`${doctor.trim()} || true`), { timeout: 60_000, interval: 1_000 })
      .not.toContain("without the election");
    const status = await guide.shell("tenure status billing");
    const [leader = ""] = (await podNames()).filter((pod) => status.includes(pod.replace("pod/", "")));
    expect(leader).not.toBe("");
    // The blocks that print manifests.
    const printed = await guide.shell(guide.left.join("\n"));
    expect(printed).toContain("kind: Role");
    expect(printed).toContain("initContainers:");
  });
});
