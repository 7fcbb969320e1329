/** The rollout commands of kubectl, with controllers and a scheduler in the process of the sandbox. */
import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { KubeClient, loadConfig } from "@tenure/kube";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startFakeNodes } from "../../../packages/cluster/src/testing/fake-node.ts";
import { endAll, start } from "../operate/commands.ts";

const hasKubectl = spawnSync("kubectl", ["version", "--client"]).status === 0;
let folder: string;
let client: KubeClient;
let stop: AbortController;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenure-kubectl-"));
  const kubeconfig = join(folder, "kubeconfig");
  const flags = ["sandbox", "--port", "0", "--nodes", "0", "--kubeconfig-out", kubeconfig];
  await start(flags, { HOME: folder }).line(/"ready"/);
  client = new KubeClient(() => loadConfig({ kubeconfig }));
  stop = new AbortController();
  await startFakeNodes({ client, names: ["node-1", "node-2"], signal: stop.signal });
});
afterAll(async () => {
  stop.abort();
  client.close();
  endAll();
  await rm(folder, { recursive: true, force: true });
});

async function kubectl(args: string): Promise<string> {
  const env = { ...process.env, KUBECONFIG: join(folder, "kubeconfig"), HOME: folder };
  const { stdout } = await promisify(execFile)("kubectl", args.split(" "), { env, timeout: 60_000 });
  return stdout;
}
const images = () => kubectl("get pods -l app=web -o jsonpath={.items[*].spec.containers[0].image}");
const rolledOut = () => kubectl("rollout status deployment/web --timeout=50s");

it("creates, updates, undoes, pauses, restarts, scales and deletes a Deployment", async ({ skip }) => {
  skip(!hasKubectl, "kubectl is not installed");
  await kubectl("create deployment web --image=web:1 --replicas=3");
  expect(await rolledOut()).toContain('deployment "web" successfully rolled out');
  await kubectl("set image deployment/web web=web:2");
  await rolledOut();
  await expect.poll(images).toBe("web:2 web:2 web:2");
  expect(await kubectl("rollout history deployment/web")).toMatch(/^1 .*\n2 /m);
  await kubectl("rollout undo deployment/web");
  await rolledOut();
  await expect.poll(images).toBe("web:1 web:1 web:1");
  expect(await kubectl("rollout history deployment/web")).toMatch(/^2 .*\n3 /m);

  await kubectl("rollout pause deployment/web");
  await kubectl("set image deployment/web web=web:4");
  await kubectl("rollout resume deployment/web");
  await rolledOut();
  await expect.poll(images).toBe("web:4 web:4 web:4");

  const before = await kubectl("get pods -l app=web -o name");
  await kubectl("rollout restart deployment/web");
  await rolledOut();
  await expect
    .poll(async () =>
      (await kubectl("get pods -l app=web -o name")).split("\n").some((pod) => pod && before.includes(pod)),
    )
    .toBe(false);

  await kubectl("scale deployment/web --replicas=5");
  await kubectl("wait deployment/web --for=jsonpath={.status.availableReplicas}=5 --timeout=50s");
  await kubectl("delete deployment web");
  await expect.poll(() => kubectl("get pods,replicasets -l app=web -o name")).toBe("");
}, 180_000);
