import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KubeClient, loadConfig } from "@tenure/kube";
import { type Sandbox, startSandbox } from "@tenure/sandbox";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { runCommandLine } from "../../command-line.ts";
import { type FakeOptions, type FakePlatform, fakePlatform } from "../../testing/fake-platform.ts";
import { stopTimeoutFor } from "./sidecar.ts";

let sandbox: Sandbox;
let home: string;
let kubeconfig: string;
let client: KubeClient;
let names = 0;
const running = new Set<Sidecar>();

beforeAll(async () => {
  sandbox = await startSandbox();
  home = await mkdtemp(join(tmpdir(), "tenure-sidecar-"));
  kubeconfig = join(home, "kubeconfig");
  await sandbox.writeKubeconfig(kubeconfig);
  client = new KubeClient(() => loadConfig({ kubeconfig }));
});
afterAll(async () => {
  client.close();
  await sandbox.close();
  await rm(home, { recursive: true, force: true });
});
afterEach(async () => {
  for (const sidecar of running) sidecar.raise("SIGTERM");
  await Promise.all([...running].map(({ ended }) => ended));
});

interface Sidecar extends FakePlatform {
  readonly ended: Promise<number>;
  /** The URL of its status server. */
  url(): Promise<string>;
  status(): Promise<Record<string, unknown>>;
}

/** Starts a sidecar with these flags. */
function start(flags: string, options: Partial<FakeOptions> = {}): Sidecar {
  const platform = fakePlatform(`sidecar --kubeconfig ${kubeconfig} ${flags}`, { home, ...options });
  const ended = runCommandLine(platform);
  const url = async () => {
    await Promise.race([expect.poll(() => platform.printed).toContain('"event":"started"'), ended]);
    const line = platform.printed.split("\n").find((each) => each.includes('"event":"started"'));
    if (!line) throw new Error(`it did not start: ${platform.complained}`);
    return JSON.parse(line).status as string;
  };
  const status = async () => (await (await fetch(await url())).json()) as Record<string, unknown>;
  const sidecar: Sidecar = Object.assign(platform, { ended, url, status });
  running.add(sidecar);
  void ended.finally(() => running.delete(sidecar));
  return sidecar;
}

const quick = "--status 127.0.0.1:0 --handover-delay 0s";
const newName = () => `sidecar-${++names}`;
const leads = (sidecar: Sidecar) => expect.poll(async () => (await sidecar.status()).isLeader).toBe(true);

describe("an application that asks", () => {
  it("learns who leads, and that it leads after the other one has stopped", async () => {
    const name = newName();
    const a = start(`--lease-lock-name ${name} --id a ${quick}`);
    await leads(a);
    const b = start(`--lease-lock-name ${name} --id b ${quick}`);
    await expect.poll(async () => (await b.status()).name).toBe("a");
    expect(await b.status()).toMatchObject({ identity: "b", isLeader: false, token: null });
    a.raise("SIGTERM");
    expect(await a.ended).toBe(0);
    await leads(b);
    expect(await b.status()).toMatchObject({ name: "b", token: expect.stringMatching(/^\d+$/) });
  });

  it("is told to stop first, and has the handover delay before another one leads", async () => {
    const name = newName();
    const a = start(`--lease-lock-name ${name} --id a --status 127.0.0.1:0 --handover-delay 1s`);
    await leads(a);
    const b = start(`--lease-lock-name ${name} --id b ${quick}`);
    await expect.poll(async () => (await b.status()).name).toBe("a");
    const askedMs = performance.now();
    a.raise("SIGTERM");
    expect(await a.status()).toMatchObject({ name: "", isLeader: false, phase: "pre-follower" });
    expect(await b.status()).toMatchObject({ isLeader: false });
    await leads(b);
    expect(performance.now() - askedMs).toBeGreaterThan(990);
    // It removes its Lease after that. A second signal would be an order to hurry.
    expect(await a.ended).toBe(0);
  });

  it("also gets metrics, health and readiness, and needs a token to step down", async () => {
    const token = join(home, "token");
    await writeFile(token, "secret\n");
    const flags = `${quick} --status-ready leader --status-token-file ${token} --cooldown 60s`;
    const a = start(`--lease-lock-name ${newName()} --id a ${flags}`);
    await leads(a);
    const url = await a.url();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(
      /leader_election_master_status{name="sidecar-\d+"} 1/,
    );
    const stepDown = (authorization: string) =>
      fetch(`${url}/step-down`, { method: "POST", headers: { authorization } });
    expect((await stepDown("Bearer wrong")).status).toBe(401);
    expect((await stepDown("Bearer secret")).status).toBe(202);
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(503);
    await expect.poll(() => a.printed).toContain("gave up leadership (step-down)");
  });

  it("of the old leader-elector: --election and --http, and a name in the response", async () => {
    const name = newName();
    const a = start(
      `--election=${name} --election-namespace=default --http=127.0.0.1:0 --ttl=10s --use-cluster-credentials --id=a --handover-delay=0s`,
    );
    await leads(a);
    expect((await a.status()).name).toBe("a");
    const path = `/apis/coordination.k8s.io/v1/namespaces/default/leases/${name}`;
    const { spec } = await client.request<{ spec: object }>({ method: "GET", path });
    expect(spec).toMatchObject({ holderIdentity: "a", leaseDurationSeconds: 10 });
  });
});

describe("traffic", () => {
  it("follows the leader by label and ready file, and is removed before the lease is released", async () => {
    const name = newName();
    const post = (path: string, body: object) => client.request({ method: "POST", path, body });
    const pods = "/api/v1/namespaces/default/pods";
    for (const pod of ["p-1", "p-2"])
      await post(pods, { metadata: { name: pod }, spec: { containers: [{ name: "app", image: "x" }] } });
    const ready = (pod: string) => join(home, `${pod}.ready`);
    const pod = (id: string) =>
      start(`--lease-lock-name ${name} --label --ready-file ${ready(id)} ${quick}`, {
        env: { POD_NAME: id, POD_NAMESPACE: "default" },
      });
    const roles = async () => {
      const { items } = await client.request<{ items: { metadata: { labels: Record<string, string> } }[] }>({
        method: "GET",
        path: pods,
      });
      return items.map(({ metadata }) => metadata.labels?.["tenure.dev/role"]);
    };
    const one = pod("p-1");
    await expect.poll(roles).toEqual(["leader", undefined]);
    await expect.poll(() => existsSync(ready("p-1"))).toBe(true);
    const two = pod("p-2");
    await expect.poll(roles).toEqual(["leader", "standby"]);
    one.raise("SIGTERM");
    await one.ended;
    await expect.poll(roles).toEqual(["standby", "leader"]);
    await expect.poll(() => [existsSync(ready("p-1")), existsSync(ready("p-2"))]).toEqual([false, true]);
    two.raise("SIGTERM");
    await two.ended;
    expect(await roles()).toEqual(["standby", "standby"]);
    expect(existsSync(ready("p-2"))).toBe(false);
  });

  it("that cannot work fails before the election, with exit code 1", async () => {
    const none = start(`--lease-lock-name ${newName()} --id nobody --label ${quick}`);
    expect(await none.ended).toBe(1);
    expect(none.complained).toContain("error: Cannot label pod default/nobody: the pod does not exist.");
  });
});

describe("manual routing", () => {
  it("a file that names this pod makes it ready", async () => {
    const file = join(home, "leader");
    const ready = join(home, "by-hand.ready");
    await writeFile(file, "somebody\n");
    const sidecar = start(`--follow-file ${file} --ready-file ${ready}`, { env: { POD_NAME: "p-1" } });
    await expect.poll(() => sidecar.printed).toContain("somebody is named");
    expect(existsSync(ready)).toBe(false);
    await writeFile(file, "p-1\n");
    await expect.poll(() => existsSync(ready)).toBe(true);
    sidecar.raise("SIGTERM");
    expect(await sidecar.ended).toBe(0);
    expect(existsSync(ready)).toBe(false);
  });

  it("a ConfigMap that names this pod makes it ready at once", async () => {
    const ready = join(home, "by-map.ready");
    const sidecar = start(`--follow-configmap named/chosen --ready-file ${ready}`, {
      env: { POD_NAME: "p-1", NAMESPACE: "default" },
    });
    await expect.poll(() => sidecar.printed).toContain("no pod is named");
    const path = "/api/v1/namespaces/default/configmaps";
    await client.request({
      method: "POST",
      path,
      body: { metadata: { name: "named" }, data: { chosen: "p-1" } },
    });
    await expect.poll(() => existsSync(ready)).toBe(true);
    sidecar.raise("SIGTERM");
    expect(await sidecar.ended).toBe(0);
  });
});

describe("problems are reported at once, with exit code 2", () => {
  it.each([
    ["--id a", "--lease-lock-name must be set"],
    [
      "--election x --lease-lock-name y --id a",
      '--election must equal --lease-lock-name, which means the same ("y"), but is "x"',
    ],
    [
      "--election x --id a --status 4040",
      '--status must be :PORT, HOST:PORT or unix:PATH, but is "4040"; write :4040 for every interface',
    ],
    ["--election x --id a --status-ready child-ready", "because a sidecar has no child"],
    ["--election x --id a --service web", "--service requires the address of this pod; set POD_IP"],
    ["--election x --id a --port 80", "--port requires --service"],
    [
      "--election x --id a --service web --address 10.0.0.1 --port http:80",
      '--port must be a port, or name=port,name=port, but is "http:80"',
    ],
    ["--election x --id a --handover-delay 5", "--handover-delay must be a duration"],
    ["--follow-file /x --election x", "--follow-file requires --ready-file"],
    [
      "--follow-file /x --election x",
      "--election has no effect with --follow-file, because there is no election",
    ],
    ["--follow-file /x --follow-configmap y", "--follow-file cannot be combined with --follow-configmap"],
  ])("%s", async (flags, complaint) => {
    const rejected = start(flags);
    expect(await rejected.ended).toBe(2);
    expect(rejected.complained).toContain(complaint);
    expect(rejected.complained).not.toContain("    at ");
  });

  it("an address in use exits with 1", async () => {
    const first = start(`--election ${newName()} --id a ${quick}`);
    const { host } = new URL(await first.url());
    const second = start(`--election ${newName()} --id a --status ${host}`);
    expect(await second.ended).toBe(1);
    expect(second.complained).toContain(
      `error: Cannot serve the status on ${host}: another process listens on this address`,
    );
  });

  it("a ready file in a missing directory exits with 1", async () => {
    const env = { POD_NAME: "p-1" };
    const following = start(`--follow-file /x --ready-file ${home}/no/ready`, { env });
    const electing = start(`--election ${newName()} --ready-file ${home}/no/ready ${quick}`, { env });
    for (const sidecar of [following, electing]) {
      expect(await sidecar.ended).toBe(1);
      expect(sidecar.complained).toMatch(/^error: Cannot write the ready file/);
    }
  });
});

it.each([
  ["2s", "62000ms"],
  ["5m", "360000ms"],
  [undefined, "60000ms"],
])("a handover delay of %s ends before its term does, which ends after %s", (delay, timeout) => {
  expect(stopTimeoutFor(delay)).toBe(timeout);
});
