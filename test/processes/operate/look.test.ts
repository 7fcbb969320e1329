/** `tenure status`, `list`, `watch` and `probe` as processes, with locks of every kind and in every state. */
import { execFile, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFailed } from "vitest";
import { checkRunBuild } from "../run/replicas.ts";
import { endAll, leases, microTime, record, TestCluster } from "./commands.ts";

let cluster: TestCluster;
beforeAll(async () => {
  checkRunBuild();
  cluster = await TestCluster.start();
}, 60_000);
afterEach(endAll);
afterAll(() => cluster?.close());

const lease = (name: string, spec: object, namespace = "default", metadata = {}) =>
  cluster.create(leases(namespace), { metadata: { name, ...metadata }, spec });
const annotated = (json: object) => ({ "control-plane.alpha.kubernetes.io/leader": JSON.stringify(json) });

describe("tenure status", () => {
  it("prints who leads, for how long, when the lease expires and by whose clock, and exits with 0", async () => {
    const spec = record("pod-a", { acquireTime: microTime(192_000), leaseTransitions: 5 });
    await lease("billing", spec);
    const { code, out, err } = await cluster.tenure("status", "billing");
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/^default\/billing \(lease\)\n {2}leader {7}pod-a\n {2}since {8}3m1\ds ago \(/);
    expect(out).toMatch(
      /renewed {6}[\d.]+s ago, expires in 1[\d.]+s \(lease duration 15s, by the API server's clock\)/,
    );
    expect(out).toContain("transitions  5\n");
  });

  it("prints JSON and YAML with the same keys", async () => {
    await lease("data", record("pod-a", { leaseTransitions: 2 }), "default", {
      annotations: { "tenure.dev/transfer": "2/pod-b" },
    });
    const { out } = await cluster.tenure("status", "data", "-o", "json");
    expect(JSON.parse(out)).toMatchObject({
      namespace: "default",
      name: "data",
      kind: "Lease",
      standing: "led",
      leader: "pod-a",
      transitions: 2,
      leaseDurationSeconds: 15,
      orders: { paused: false, stepDown: false, transferTo: "pod-b" },
    });
    const yaml = await cluster.tenure("status", "data", "-o", "yaml");
    expect(yaml.out).toContain("leader: pod-a\n");
    expect(yaml.out).toContain("  transferTo: pod-b\n");
    expect(yaml.out).not.toContain("undefined");
  });

  it.each([
    [
      "released",
      { holderIdentity: "", leaseDurationSeconds: 1, renewTime: microTime(5_000) },
      /the lock was released .* ago and no candidate has taken it/,
    ],
    ["never", {}, /Nobody leads: the lock was never held/],
  ])("%s: prints why nobody leads, and exits with 1", async (name, spec, words) => {
    await lease(`vacant-${name}`, spec);
    const { code, out, err } = await cluster.tenure("status", `vacant-${name}`);
    expect([code, err]).toEqual([1, ""]);
    expect(out).toMatch(words);
  });

  it("prints that a dead leader does not lead", async () => {
    await lease("dead", record("pod-a", { leaseDurationSeconds: 1 }));
    await expect
      .poll(async () => (await cluster.tenure("status", "dead")).out)
      .toMatch(/Nobody leads: pod-a last renewed .* ago, and its lease expired .* ago/);
  });

  it("prints that the holder's clock is off, and that it leads", async () => {
    await lease("skewed", record("pod-a", { renewTime: microTime(3_600_000) }));
    const { code, out } = await cluster.tenure("status", "skewed");
    expect(code).toBe(0);
    expect(out).toMatch(/clock {8}the holder's clock is (1h|59m\d+s) behind that of the API server/);
  });

  it.each(["configmaps", "endpoints"])("finds a lock in %s", async (plural) => {
    const { leaseTransitions, ...rest } = record("old-pod") as { leaseTransitions: number };
    const annotations = annotated({ ...rest, leaderTransitions: leaseTransitions });
    await cluster.create(`/api/v1/namespaces/default/${plural}`, {
      metadata: { name: `in-${plural}`, annotations },
    });
    const { code, out } = await cluster.tenure("status", `in-${plural}`);
    expect(code).toBe(0);
    expect(out).toContain(`default/in-${plural} (${plural === "endpoints" ? plural : "configmap"})\n`);
    expect(out).toContain("old-pod");
  });

  it("prints flapping, from the Events of candidates", async () => {
    await lease("flaps", record("pod-a"));
    const at = new Date().toISOString().replace(/\.\d+/, "");
    for (let index = 0; index < 6; index++) {
      await cluster.create("/api/v1/namespaces/default/events", {
        metadata: { name: `flaps.${index}` },
        involvedObject: { kind: "Lease", name: "flaps", namespace: "default" },
        reason: "LeaderElection",
        message: `pod-${index} became leader`,
        firstTimestamp: at,
        lastTimestamp: at,
        type: "Normal",
      });
    }
    const { out } = await cluster.tenure("status", "flaps", "-o", "wide");
    expect(out).toMatch(/flapping {5}leadership changed 6 times in the last/);
    expect(out).toMatch(/event {8}.* ago: pod-\d became leader/);
  });
});

describe("tenure list", () => {
  it("prints an aligned table without node heartbeats, and marks Leases that are not elections", async () => {
    const namespace = await cluster.namespace("listed");
    await lease("billing", record("pod-a"), namespace);
    await lease("a-much-longer-name", { holderIdentity: "", leaseTransitions: 3 }, namespace, {
      annotations: { "tenure.dev/paused": "true" },
    });
    await lease("no-election", { leaseDurationSeconds: 5 }, namespace);
    await lease("apiserver-x", record("apiserver-x_1"), namespace, {
      labels: { "apiserver.kubernetes.io/identity": "kube-apiserver" },
    });
    const { code, out } = await cluster.tenure("list", "-n", namespace);
    expect(code).toBe(0);
    const rows = out.split("\n").map((line) => line.split(/ +/));
    expect(rows[0]).toEqual([
      "NAME",
      "LEADER",
      "STANDBYS",
      "SINCE",
      "RENEWED",
      "EXPIRES",
      "TRANSITIONS",
      "NOTE",
    ]);
    expect(rows.slice(1, 4).map(([name, leader, , , , , , note]) => [name, leader, note])).toEqual([
      ["a-much-longer-name", "<none>", "released,paused"],
      ["apiserver-x", "apiserver-x_1", "apiserver-identity"],
      ["billing", "pod-a", "-"],
    ]);
    const columns = out
      .split("\n")
      .filter(Boolean)
      .map((line) => line.search(/LEADER|<none>|apiserver-x_1|pod-a/));
    expect(new Set(columns).size).toBe(1);
  });

  it("prints heartbeats only with --nodes or in their namespace", async () => {
    if (!(await exists("kube-node-lease"))) await cluster.namespace("kube-node-lease");
    await lease(
      "node-1",
      { holderIdentity: "node-1", leaseDurationSeconds: 40, renewTime: microTime() },
      "kube-node-lease",
    );
    const names = async (...flags: string[]) =>
      (
        JSON.parse((await cluster.tenure("list", "-o", "json", ...flags)).out) as {
          items: { name: string }[];
        }
      ).items.map(({ name }) => name);
    expect(await names("-A")).not.toContain("node-1");
    expect(await names("-A", "--nodes")).toContain("node-1");
    expect(await names("-n", "kube-node-lease")).toEqual(["node-1"]);
  });

  it("prints nothing for an empty namespace, except a message on stderr", async () => {
    const namespace = await cluster.namespace("empty");
    const { code, out, err } = await cluster.tenure("list", "-n", namespace);
    expect([code, out]).toEqual([0, ""]);
    expect(err).toContain('There are no elections in namespace "empty"');
  });

  async function exists(name: string): Promise<boolean> {
    return cluster.client
      .request({ method: "GET", path: `/api/v1/namespaces/${name}` })
      .then(() => true)
      .catch(() => false);
  }
});

describe("tenure watch in a pipe", () => {
  const put = async (namespace: string, name: string, spec: object) => {
    const path = `${leases(namespace)}/${name}`;
    const object = await cluster.client.request<object>({ method: "GET", path });
    await cluster.client.request({ method: "PUT", path, body: { ...object, spec } });
  };

  it("prints one line per change and none for renewals, and exits with 0 on Ctrl-C", async () => {
    const namespace = await cluster.namespace("watched");
    const acquireTime = microTime(60_000);
    await lease("billing", record("pod-a", { acquireTime }), namespace);
    const watching = cluster.start("watch", "billing", "-n", namespace);
    await watching.line(/watched\/billing {2}pod-a leads \(transition 0, for 1m[\ds]* so far\)/);
    await put(namespace, "billing", record("pod-a", { acquireTime }));
    await put(namespace, "billing", record("", { leaseDurationSeconds: 1, acquireTime }));
    await watching.line(/pod-a released the lock after 1m/);
    await put(namespace, "billing", record("pod-b", { leaseTransitions: 1, leaseDurationSeconds: 1 }));
    await watching.line(/pod-b leads \(transition 1, after .*s without a leader, before: pod-a\)/);
    await watching.line(/pod-b did not renew in time: nobody leads/);
    await cluster.client.request({ method: "DELETE", path: `${leases(namespace)}/billing` });
    await watching.line(/the lock was deleted/);
    watching.kill("SIGINT");
    const { code, err } = await watching.ran;
    expect([code, err]).toEqual([0, ""]);
  });

  it("prints a namespace as JSON, across a restart of the API server", async () => {
    const namespace = await cluster.namespace("streamed");
    const watching = cluster.start("watch", "-n", namespace, "-o", "json");
    await lease("one", record("pod-a"), namespace);
    expect(JSON.parse(await watching.line(/"one"/))).toMatchObject({
      namespace,
      name: "one",
      change: "leads",
      leader: "pod-a",
      transitions: 0,
    });
    await cluster.sandbox.restart();
    // The old connection of this client is dead. A read replaces it safely.
    await cluster.client.request({ method: "GET", path: "/version" });
    await lease("two", record("pod-b"), namespace);
    expect(JSON.parse(await watching.line(/"two"/))).toMatchObject({ change: "leads", leader: "pod-b" });
    watching.kill("SIGTERM");
    expect((await watching.ran).code).toBe(0);
  });

  it("exits silently when the reader is gone", async () => {
    const namespace = await cluster.namespace("unread");
    await lease("one", record("pod-a"), namespace);
    await lease("two", record("pod-b"), namespace);
    const line = `"$0" "$1" watch -n ${namespace} --kubeconfig "$2" | head -1; echo "\${PIPESTATUS[0]}"`;
    const bin = fileURLToPath(new URL("../../../packages/cli/bin/tenure.cjs", import.meta.url));
    // A new process group, so that a failed test can kill all of the pipe.
    const shell = spawn("bash", ["-c", line, process.execPath, bin, cluster.kubeconfig], { detached: true });
    onTestFailed(() => void process.kill(-(shell.pid as number), "SIGKILL"));
    let [out, err] = ["", ""];
    shell.stdout.on("data", (chunk) => {
      out += chunk;
    });
    shell.stderr.on("data", (chunk) => {
      err += chunk;
    });
    const closed = new Promise((resolve) => shell.on("close", resolve));
    // A closed pipe is noticed at the next line.
    await expect.poll(() => out).toContain("leads");
    await lease("three", record("pod-c"), namespace);
    await closed;
    expect(err).toBe("");
    expect(out.split("\n").slice(1)).toEqual(["0", ""]);
  });
});

it("tenure probe --lease exits with 0 for the leader and with 1 for others", async () => {
  await lease("probed", record("pod-a"));
  const yes = await cluster.tenure("probe", "--lease", "probed", "--id", "pod-a");
  expect([yes.code, yes.out]).toEqual([0, "ready: pod-a leads default/probed\n"]);
  const no = await cluster.tenure("probe", "--lease", "probed", "--id", "pod-b");
  expect([no.code, no.out]).toEqual([1, "not ready: pod-a leads default/probed, not pod-b\n"]);
});

it("tenure list prints locks in ConfigMaps and Endpoints only with --legacy", async () => {
  const namespace = await cluster.namespace("legacy");
  const annotations = annotated(record("old-pod"));
  for (const plural of ["configmaps", "endpoints"]) {
    await cluster.create(`/api/v1/namespaces/${namespace}/${plural}`, {
      metadata: { name: `in-${plural}`, annotations },
    });
  }
  await cluster.create(`/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: "no-lock" } });
  expect((await cluster.tenure("list", "-n", namespace)).out).toBe("");
  const { out } = await cluster.tenure("list", "-n", namespace, "--legacy", "-o", "yaml");
  expect(out.match(/^ {4}name: .*$/gm)).toEqual(["    name: in-configmaps", "    name: in-endpoints"]);
});

it("works as a kubectl plugin", async () => {
  const plugin = fileURLToPath(new URL("../../../packages/cli/bin/kubectl-tenure.cjs", import.meta.url));
  const { stdout } = await promisify(execFile)(plugin, [
    "list",
    "-n",
    "listed",
    "--kubeconfig",
    cluster.kubeconfig,
  ]);
  expect(stdout).toContain("billing");
});
