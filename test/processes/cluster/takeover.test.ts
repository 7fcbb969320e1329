/** Two processes of controllers and two of schedulers. The leading ones are killed in the middle of a rollout. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KubeClient, loadConfig } from "@tenure/kube";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Pod } from "../../../packages/cluster/src/client/objects.ts";
import { startFakeNodes } from "../../../packages/cluster/src/testing/fake-node.ts";
import { DeploymentWatch, deployment } from "../../conformance/deployment-watch.ts";
import { endAll, type Running, start } from "../operate/commands.ts";

const timings = ["--lease-duration", "3s", "--renew-deadline", "2s", "--retry-period", "500ms"];
/** A lease duration, a rollout, and a busy machine. */
const longMs = 50_000;

let folder: string;
let kubeconfig: string;
let client: KubeClient;
let stop: AbortController;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenure-cluster-"));
  kubeconfig = join(folder, "kubeconfig");
  const flags = "--port 0 --nodes 0 --controllers none --scheduler none --kubeconfig-out";
  await start(["sandbox", ...flags.split(" "), kubeconfig], { HOME: folder }).line(/"ready"/);
  client = new KubeClient(() => loadConfig({ kubeconfig }));
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  client.close();
  endAll();
  await rm(folder, { recursive: true, force: true });
});

const component = (name: string, id: string): Running =>
  start(["sandbox", name, "--kubeconfig", kubeconfig, "--id", id, ...timings], { HOME: folder });

/** Starts two of a component, one after the other, so that it is known which one leads. */
async function pair(name: string): Promise<{ leader: Running; standby: Running }> {
  const leader = component(name, `${name}-1`);
  await leader.line(/"leading"/);
  const standby = component(name, `${name}-2`);
  await standby.line(/"started"/);
  return { leader, standby };
}

it("a rollout goes on within its bounds when the leading controllers and scheduler are killed", async () => {
  const controllers = await pair("controllers");
  const schedulers = await pair("scheduler");
  // The second new pod becomes ready only after the kill, so the rollout is in its middle then.
  let mostUpdated = 1;
  const becomesReady = (pod: Pod) => pod.spec.containers[0]?.image === "web:1" || mostUpdated-- > 0;
  const nodes = await startFakeNodes({
    client,
    names: ["node-1", "node-2"],
    signal: stop.signal,
    becomesReady,
  });
  const web = new DeploymentWatch(client, "default", "web");
  await web.create(
    deployment("web", { replicas: 6, strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } }),
  );
  await web.rolledOut(longMs);
  await web.expect({ most: 7, least: 5 });

  const updated = () => web.ready.filter(({ spec }) => spec.containers[0].image === "web:2").length;
  await web.patch({ spec: { template: { spec: { containers: [{ name: "web", image: "web:2" }] } } } });
  await web.until("in the middle of the rollout", () => updated() >= 1, longMs);
  controllers.leader.kill("SIGKILL");
  schedulers.leader.kill("SIGKILL");
  await Promise.all([controllers.leader.ran, schedulers.leader.ran]);
  expect(updated()).toBe(1);
  mostUpdated = Number.POSITIVE_INFINITY;
  nodes.recheck();

  await Promise.all([controllers.standby.line(/"leading"/), schedulers.standby.line(/"leading"/)]);
  await web.until("updated", () => updated() === 6 && web.active.length === 6, longMs);
  await web.rolledOut(longMs);
  expect(web.violations).toEqual([]);
  await web.close();
}, 120_000);
