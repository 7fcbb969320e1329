// @ts-check
/**
 * The whole system of the demo: a Kubernetes API, a gRPC server with orders, and three replicas of which one works. It measures
 * at the service: a handover lasts from the last order that the old worker finished to the first order of the new worker.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { KubeClient, loadConfig } from "@tenure/kube";
import { startSandbox } from "@tenure/sandbox";
import { startService } from "../stream-worker/service.mjs";
import { freePorts } from "./free-ports.mjs";
import { readJournals } from "./journals.mjs";
import { NetworkLink } from "./network-link.mjs";
import { running } from "./processes.mjs";
import { Replica } from "./replica.mjs";
import { startPage, startRecording } from "./web-page.mjs";

const leaseName = "orders";
const leasePath = `/apis/coordination.k8s.io/v1/namespaces/default/leases/${leaseName}`;
const readLeaseEveryMs = 200;

/**
 * @typedef {object} SystemOptions
 * @property {number} [rate] orders a second
 * @property {number} [total] the most orders to place
 * @property {number} [leaseSeconds]
 * @property {number} [concurrency] of a worker
 * @property {string} [record] the file for a recording of the election
 * @property {(line: string) => void} [log]
 *
 * @typedef {{ atMs: number, from: string, to: string, token: bigint, gapMs: number, cause: string }} Handover
 */

export class System {
  /** @type {Replica[]} */
  replicas = [];
  /** @type {Handover[]} */
  handovers = [];
  /** Who holds the lease, and when it was renewed. @type {{ holder: string, renewedMs: number } | undefined} */
  lease;
  /** Finished orders of the last two seconds: when and how many. @type {{ atMs: number, count: number }[]} */
  #recent = [];
  /** @type {{ worker: string, token: bigint, atMs: number } | undefined} */
  #last;
  #cause = "start";
  #end = new AbortController();
  /** @type {Promise<void> | undefined} */
  #starting;
  /** @type {Promise<void> | undefined} */
  #closing;
  /** @type {(() => unknown)[]} */
  #onClose = [];
  /** Processes beside the replicas. @type {number[]} */
  #helperPids = [];

  /** @param {SystemOptions} [options] */
  constructor({
    rate = 100,
    total = Number.POSITIVE_INFINITY,
    leaseSeconds = 3,
    concurrency = 4,
    record = undefined,
    log = () => {},
  } = {}) {
    this.options = { rate, total, leaseSeconds, concurrency, record, log };
  }

  start() {
    this.#starting = this.#start();
    return this.#starting;
  }

  async #start() {
    const { rate, total, record, log } = this.options;
    const folder = await mkdtemp(join(tmpdir(), "tenure-demo-"));
    this.folder = folder;
    this.#onClose.push(() => rm(folder, { recursive: true, force: true }));
    const sandbox = await startSandbox();
    this.#onClose.push(() => sandbox.close());
    this.service = await startService({
      rate,
      total,
      log,
      onFinish: (worker, token, count) => this.#finished(worker, token, count),
    });
    this.#onClose.push(() => this.service?.close());
    this.kubeconfig = join(folder, "kubeconfig");
    await sandbox.writeKubeconfig(this.kubeconfig);
    const client = new KubeClient(() => loadConfig({ kubeconfig: /** @type {string} */ (this.kubeconfig) }));
    this.client = client;
    this.#onClose.push(() => client.close());
    for (const name of ["a", "b", "c"]) {
      this.replicas.push(await this.#makeReplica(name, sandbox.url, folder));
    }
    if (this.isEnding) return;
    for (const replica of this.replicas) replica.start();
    this.page = await startPage(this.kubeconfig, leaseName, this.replicas);
    this.#onClose.push(() => this.page?.close());
    if (record !== undefined) {
      const recording = startRecording(this.kubeconfig, leaseName, this.replicas, record);
      this.#helperPids.push(recording.pid);
      this.#onClose.push(() => recording.close());
    }
    if (this.page) this.#helperPids.push(this.page.pid);
    const timer = setInterval(() => this.#updateLease(), readLeaseEveryMs);
    this.#onClose.push(() => clearInterval(timer));
  }

  /** The replica that finished the last order. */
  get leader() {
    return this.replicas.find(({ name }) => name === this.#last?.worker);
  }

  get token() {
    return this.#last?.token;
  }

  /** Whether the demo was told to end. */
  get isEnding() {
    return this.#end.signal.aborted;
  }

  /** Ends all waits. Processes run until `close`. */
  end() {
    this.#end.abort();
  }

  /** Waits, but no longer than until `end`. @param {number} ms */
  pause(ms) {
    return sleep(ms, undefined, { signal: this.#end.signal }).catch(() => {});
  }

  /** Finished orders per second, averaged over two seconds. */
  get perSecond() {
    const fromMs = performance.now() - 2_000;
    this.#recent = this.#recent.filter(({ atMs }) => atMs >= fromMs);
    return this.#recent.reduce((sum, { count }) => sum + count, 0) / 2;
  }

  /** Sets the cause that is shown for the next handover. @param {string} cause */
  setCause(cause) {
    this.#cause = cause;
  }

  /** Orders the leader to step down, as `tenure step-down` does. */
  async stepDown() {
    const lease = await this.#readLease();
    if (!lease) return;
    this.setCause("stepped down");
    await this.client?.request({
      method: "PATCH",
      path: leasePath,
      contentType: "application/merge-patch+json",
      body: {
        metadata: { annotations: { "tenure.dev/step-down": String(lease.spec.leaseTransitions ?? 0) } },
      },
    });
  }

  /** Waits until a term with another token has finished an order. @param {bigint | undefined} token */
  async nextTerm(token, withinMs = 60_000) {
    const endMs = performance.now() + withinMs;
    while (this.token === token) {
      if (this.isEnding) return false;
      if (performance.now() > endMs) throw new Error(`no new leader within ${withinMs / 1_000} s`);
      await this.pause(20);
    }
    return true;
  }

  /** Places no more orders, and waits until the leader has finished all of them. */
  async settle(withinMs = 60_000) {
    this.service?.stopPlacing();
    const ledger = this.service?.ledger;
    const endMs = performance.now() + withinMs;
    while (ledger && ledger.finished < ledger.placed && performance.now() < endMs && !this.isEnding)
      await this.pause(20);
  }

  async summary() {
    const { placed, finished, twice, refused, left, dropped } = this.service?.ledger.report() ?? {};
    const { startedTwice, restartedByTerm } = await readJournals(this.folder ?? "");
    const handovers = this.handovers.slice(1);
    const downMs = handovers.reduce((sum, { gapMs }) => sum + gapMs, 0);
    return {
      placed: placed ?? 0,
      finished: finished ?? 0,
      lost: (placed ?? 0) - (finished ?? 0),
      twice: twice ?? 0,
      startedTwice,
      restartedByTerm,
      refused: refused ?? 0,
      left: left ?? 0,
      dropped: dropped ?? 0,
      handovers,
      downMs,
    };
  }

  /** Resolves when every process has exited. */
  close() {
    this.end();
    this.#closing ??= (async () => {
      await this.#starting?.catch(() => {});
      await Promise.all(this.replicas.map((replica) => replica.close()));
      for (const close of this.#onClose.splice(0).reverse()) await close();
    })();
    return this.#closing;
  }

  /** Processes that should have exited but still run. */
  leftovers() {
    return running([...this.replicas.flatMap(({ pids }) => [...pids]), ...this.#helperPids]);
  }

  /** @param {string} name @param {string} apiUrl @param {string} folder */
  async #makeReplica(name, apiUrl, folder) {
    const { leaseSeconds, concurrency, log } = this.options;
    const links = [new NetworkLink(Number(new URL(apiUrl).port)), new NetworkLink(this.service?.port ?? 0)];
    const [apiPort, servicePort] = await Promise.all(links.map((link) => link.listen()));
    const [statusPort] = await freePorts(1);
    const own = join(folder, `kubeconfig-${name}`);
    const config = await readFile(/** @type {string} */ (this.kubeconfig), "utf8");
    const url = new URL(apiUrl);
    url.port = String(apiPort);
    await writeFile(own, config.replaceAll(apiUrl, url.href.replace(/\/$/, "")), { mode: 0o600 });
    return new Replica(name, {
      links,
      statusUrl: `http://127.0.0.1:${statusPort}`,
      folder,
      log,
      runFlags: [
        ...["--kubeconfig", own, "--lease-lock-name", leaseName, "--lease-lock-namespace", "default"],
        ...["--lease-duration", `${leaseSeconds}s`, "--renew-deadline", `${leaseSeconds * 600}ms`],
        ...["--retry-period", `${leaseSeconds * 100}ms`, "--stop-timeout", "10s"],
        ...["--status", `127.0.0.1:${statusPort}`],
      ],
      workerFlags: [
        ...["--server", `127.0.0.1:${servicePort}`, "--concurrency", String(concurrency)],
        ...["--journal", join(folder, `journal-${name}`)],
      ],
    });
  }

  /** @param {string} worker @param {bigint} token @param {number} count */
  #finished(worker, token, count) {
    const atMs = performance.now();
    this.#recent.push({ atMs, count });
    if (this.#last && this.#last.token === token) {
      this.#last.atMs = atMs;
      return;
    }
    const { worker: from, atMs: sinceMs } = this.#last ?? { worker: "", atMs };
    this.handovers.push({ atMs, from, to: worker, token, gapMs: atMs - sinceMs, cause: this.#cause });
    this.#cause = "no fault injected";
    this.#last = { worker, token, atMs };
  }

  async #updateLease() {
    const lease = await this.#readLease();
    if (!lease) return;
    const { holderIdentity = "", renewTime } = lease.spec;
    this.lease = { holder: holderIdentity, renewedMs: Date.parse(renewTime) };
  }

  async #readLease() {
    try {
      return await this.client?.request({ method: "GET", path: leasePath });
    } catch {
      // It does not exist yet, or the demo is ending.
      return undefined;
    }
  }
}
