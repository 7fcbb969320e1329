/**
 * A supervisor, its child and all gates together. The order is: child ready, gates open; child stopped, gates closed, lease
 * released. The child takes half a second to become ready and to stop, so that a wrong order would show.
 */
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Election, LeaseLock } from "@tenure/election";
import { KubeClient, loadConfig } from "@tenure/kube";
import { parseReady, Supervisor } from "@tenure/supervisor";
import { endpointSlice, leaderConfigMap, podLabel, prepareGates, readyFile } from "@tenure/traffic";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { connectForLocks, type LockTarget } from "../../conformance/locks-target.ts";
import { electionName, rules, timings } from "./replicas.ts";
import { Witness } from "./witness.ts";

/** Logs when it is ready and when it has stopped. */
const child = `
const { appendFileSync, writeFileSync } = require("node:fs");
const [log, ready] = process.argv.slice(1);
const write = (what) => appendFileSync(log, what + " " + Date.now() + "\\n");
setTimeout(() => { write("ready"); writeFileSync(ready, ""); }, 500);
process.on("SIGTERM", () => setTimeout(() => { write("stopped"); process.exit(0); }, 500));
setInterval(() => {}, 1000);
`;

let connection: LockTarget;
let witness: Witness | undefined;
let folder: string;
let client: KubeClient | undefined;

beforeAll(async () => {
  connection = await connectForLocks();
  folder = await mkdtemp(join(tmpdir(), "tenure-order-"));
}, 60_000);
afterEach(async () => {
  await witness?.end();
  client?.close();
});
afterAll(async () => {
  await connection?.close();
  await rm(folder, { recursive: true, force: true });
});

it("opens the gates after the child is ready, and closes them after it stopped and before the release", async () => {
  const { target } = connection;
  const namespace = await target.namespace();
  const kubeconfig = await connection.serviceAccount(namespace, rules);
  await target.request("POST", `/api/v1/namespaces/${namespace}/services`, {
    metadata: { name: electionName },
    spec: { ports: [{ port: 80 }] },
  });
  await target.request("POST", `/api/v1/namespaces/${namespace}/pods`, {
    metadata: { name: "web-0" },
    spec: { containers: [{ name: "app", image: "app:1" }] },
  });
  witness = new Witness(connection.kubeconfig);
  await witness.start(namespace);
  client = new KubeClient(() => loadConfig({ kubeconfig }));
  const errors: string[] = [];
  const onError = (error: Error) => void errors.push(error.message);
  const common = { client, namespace, pod: "web-0", election: electionName, onError };
  const inTrafficFile = join(folder, "in-traffic");
  const gates = [
    readyFile({ path: inTrafficFile, onError }),
    podLabel(common),
    endpointSlice({ ...common, service: electionName, address: "10.1.0.1" }),
    leaderConfigMap(common),
  ];
  await prepareGates(gates);
  const lock = new LeaseLock({ namespace, name: electionName, kubeconfig });
  const election = new Election({ ...timings, lock, identity: "web-0", onOverrun: "report" });
  const [log, isReady] = [join(folder, "log"), join(folder, "child-is-ready")];
  await writeFile(log, "");
  const supervisor = new Supervisor({
    election,
    command: process.execPath,
    args: ["-e", child, log, isReady],
    gates,
    ready: parseReady(`file:${isReady}`),
  });
  supervisor.on("error", ({ error }) => onError(error));
  const shutdown = new AbortController();
  const run = supervisor.run({ signal: shutdown.signal });
  await witness.until(() => witness?.isOnlyPod("web-0") === true, "in traffic");
  // The gates open independently of each other. The file can be the last one.
  const fileAtMs = await vi.waitFor(async () => (await stat(inTrafficFile)).mtimeMs, { timeout: 20_000 });
  shutdown.abort();
  expect(await run).toMatchObject({ exitCode: 0, killed: false });
  await witness.until(() => witness?.lease.at(-1)?.pods.length === 0, "released");
  const times = Object.fromEntries(
    (await readFile(log, "utf8"))
      .trim()
      .split("\n")
      .map((line) => line.split(" ")),
  );
  await expect(stat(inTrafficFile)).rejects.toThrow("ENOENT");
  expect(fileAtMs).toBeGreaterThanOrEqual(Number(times.ready) - 2);
  for (const [gate, observations] of Object.entries(witness.gates)) {
    const [entered, left] = observations.filter(({ pods }, index) => pods.length > 0 || index > 0);
    expect(entered?.wallMs, `${gate} after the child was ready`).toBeGreaterThanOrEqual(Number(times.ready));
    expect(left?.wallMs, `${gate} after the child had stopped`).toBeGreaterThanOrEqual(Number(times.stopped));
    const released = witness.lease.at(-1)?.revision ?? 0n;
    expect(left?.revision, `${gate} before the lease`).toBeLessThan(released);
  }
  expect(errors).toEqual([]);
}, 30_000);
