// @ts-check
/** What all trials share: a sandbox, a folder, and the ways to start replicas and to wait. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { KubeClient, loadConfig } from "@tenure/kube";
import { startSandbox } from "@tenure/sandbox";
import { TcpProxy } from "../../../chaos/proxy.mjs";
import { freePorts } from "../../../kube/ports.mjs";
import { replicas, TrialReplica } from "./replica.mjs";
import { Tree, trees } from "./tree.mjs";

const command = fileURLToPath(new URL("../../../../packages/cli/bin/tenure.cjs", import.meta.url));

/** Short, so that many trials fit into a minute. The hard deadline is 1.88 s after a renewal was sent. */
const timings = ["--lease-duration", "2s", "--renew-deadline", "1.2s", "--retry-period", "300ms"];
export const hardDeadlineMs = 1_880;

/**
 * @typedef {object} Setup
 * @property {string} [name] of the lock
 * @property {string} [id]
 * @property {string} [kubeconfig]
 * @property {string[]} [child]
 * @property {string[]} [flags]
 * @property {string[]} [before] the words before the command, which start it in a container
 */
/** @typedef {{ name: string, tree: Tree, replica: TrialReplica }} Started */

export const wait = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits for a time that differs between runs, so that they hit different moments between two renewals. @param {number} index */
export const someTime = (index) => wait((index * 137) % 900);

export class World {
  #count = 0;

  /** @param {string} folder @param {Awaited<ReturnType<typeof startSandbox>>} sandbox */
  constructor(folder, sandbox) {
    this.folder = folder;
    this.kubeconfig = join(folder, "kubeconfig");
    this.sandbox = sandbox;
    this.client = new KubeClient(() => loadConfig({ kubeconfig: this.kubeconfig }));
  }

  static async open() {
    const folder = await mkdtemp(join(tmpdir(), "tenure-trials-"));
    const sandbox = await startSandbox();
    const world = new World(folder, sandbox);
    await writeFile(world.kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
    return world;
  }

  /** Records all elections from now on, to look at them with `tenure ui --open`. @param {string} file */
  record(file) {
    const args = [command, "watch", "-A", "--kubeconfig", this.kubeconfig, "--record", file];
    this.recorder = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  }

  nextName() {
    return `trial-${++this.#count}`;
  }

  /** A replica with its tree. @param {Setup} [setup] @returns {Promise<Started>} */
  async start({
    name = this.nextName(),
    id = "a",
    kubeconfig = this.kubeconfig,
    child = trees.stubborn,
    flags = timings,
    before = [],
  } = {}) {
    const tree = await this.newTree();
    const quiet = ["--log-leader-every", "0s", "--log-format", "json"];
    const setup = { kubeconfig, name, id, pipe: tree.path, child, flags: [...flags, ...quiet], before };
    return { name, tree, replica: new TrialReplica(setup) };
  }

  async newTree() {
    const tree = new Tree(this.folder);
    await tree.make();
    return tree;
  }

  /** A leader whose tree runs. @param {Setup} [setup] */
  async startLeader(setup) {
    const started = await this.start(setup);
    await started.replica.logged("child-started");
    await started.tree.timeOf("up");
    return started;
  }

  /** A proxy before the sandbox, and the kubeconfig that leads through it. */
  async newProxy() {
    const { hostname: host, port } = new URL(this.sandbox.url);
    const proxy = new TcpProxy({ host, port: Number(port) });
    const [proxyPort = 0] = await freePorts(1);
    await proxy.listen(proxyPort);
    const kubeconfig = join(this.folder, `kubeconfig-${proxyPort}`);
    const text = this.sandbox.kubeconfig.replaceAll(`:${port}`, `:${proxyPort}`);
    await writeFile(kubeconfig, text, { mode: 0o600 });
    return { proxy, kubeconfig };
  }

  /** When the last renewal of this lock was sent, in milliseconds since 1970. @param {string} name */
  async renewedAt(name) {
    const path = `/apis/coordination.k8s.io/v1/namespaces/default/leases/${name}`;
    const lease = await this.client.request({ method: "GET", path });
    return Date.parse(/** @type {{ spec: { renewTime: string } }} */ (lease).spec.renewTime);
  }

  async close() {
    await Promise.all([...replicas].map((replica) => replica.end()));
    if (this.recorder?.exitCode === null) {
      this.recorder.kill("SIGTERM");
      await once(this.recorder, "exit");
    }
    this.client.close();
    await this.sandbox.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** @param {...Started} started */
export async function end(...started) {
  await Promise.all(started.map(({ replica }) => replica.end()));
  for (const { tree } of started) tree.close();
}
