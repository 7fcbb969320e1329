/** Two processes of controllers and two of schedulers. The leading ones are killed in the middle of each rollout. */
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
/** TENURE_TAKEOVERS=20 npm run test:processes -- takeover */
const kills = Number(process.env.TENURE_TAKEOVERS ?? 2);
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

/** Two of a component, started one after the other, so that it is known which one leads. */
class Pair {
  readonly #name: string;
  #count = 2;
  leader: Running;
  standby: Running;

  private constructor(name: string, leader: Running, standby: Running) {
    this.#name = name;
    this.leader = leader;
    this.standby = standby;
  }

  static async start(name: string): Promise<Pair> {
    const leader = component(name, `${name}-1`);
    await leader.line(/"leading"/);
    const standby = component(name, `${name}-2`);
    await standby.line(/"started"/);
    return new Pair(name, leader, standby);
  }

  async kill(): Promise<void> {
    this.leader.kill("SIGKILL");
    await this.leader.ran;
  }

  /** Waits until the other one leads, and starts another standby. */
  async takenOver(): Promise<void> {
    await this.standby.line(/"leading"/);
    this.leader = this.standby;
    this.standby = component(this.#name, `${this.#name}-${++this.#count}`);
    await this.standby.line(/"started"/);
  }
}

it(
  `${kills} rollouts go on within their bounds when the leading controllers and scheduler are killed`,
  async () => {
    const controllers = await Pair.start("controllers");
    const schedulers = await Pair.start("scheduler");
    // So many new pods become ready before the kill that the rollout is in its middle then.
    let current = "web:0";
    let mostUpdated = Number.POSITIVE_INFINITY;
    const becomesReady = (pod: Pod) => pod.spec.containers[0]?.image !== current || mostUpdated-- > 0;
    const nodes = await startFakeNodes({
      client,
      names: ["node-1", "node-2"],
      signal: stop.signal,
      becomesReady,
    });
    const web = new DeploymentWatch(client, "default", "web");
    const container = { name: "web", image: current };
    const labels = { app: "web" };
    await web.create(
      deployment("web", {
        replicas: 6,
        strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } },
        template: { metadata: { labels }, spec: { containers: [container] } },
      }),
    );
    await web.rolledOut(longMs);
    await web.expect({ most: 7, least: 5 });

    const updated = () => web.ready.filter(({ spec }) => spec.containers[0].image === current).length;
    for (let round = 1; round <= kills; round++) {
      const middle = ((round - 1) % 5) + 1;
      current = `web:${round}`;
      mostUpdated = middle;
      await web.patch({ spec: { template: { spec: { containers: [{ name: "web", image: current }] } } } });
      await web.until(`in the middle of rollout ${round}`, () => updated() >= middle, longMs);
      await Promise.all([controllers.kill(), schedulers.kill()]);
      expect(updated()).toBe(middle);
      mostUpdated = Number.POSITIVE_INFINITY;
      nodes.recheck();
      await Promise.all([controllers.takenOver(), schedulers.takenOver()]);
      await web.until(`updated ${round}`, () => updated() === 6 && web.active.length === 6, longMs);
      await web.rolledOut(longMs);
      expect(web.violations).toEqual([]);
    }
    await web.close();
  },
  60_000 + kills * 60_000,
);
