/** Signals to the built command in every phase, and three replicas of which one runs its child. */
import { spawnSync } from "node:child_process";
import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { KubeClient, loadConfig } from "@tenure/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as children from "./children.mjs";
import { type Replica, shortLease, startTenure } from "./replicas.ts";
import { childrenOf } from "./survivors.mjs";
import { newWorld } from "./world.ts";

const world = newWorld();
let client: KubeClient;
let count = 0;

beforeAll(() => {
  client = new KubeClient(loadConfig({ kubeconfig: world.kubeconfig }));
});
afterAll(() => client?.close());

interface Lease {
  readonly spec: { readonly holderIdentity: string; readonly renewTime: string };
}

const leasePath = (of: number) => `/apis/coordination.k8s.io/v1/namespaces/default/leases/signals-${of}`;

function newElection() {
  const name = `signals-${++count}`;
  return (id: string, child: readonly string[], flags: readonly string[] = []): Replica =>
    startTenure([
      ...["run", "--kubeconfig", world.kubeconfig, "--lease-lock-name", name, "--id", id],
      ...[...flags, "--", ...child],
    ]);
}

describe.each(["SIGTERM", "SIGINT"] as const)("%s", { timeout: 30_000 }, (signal) => {
  it("to a follower: it exits at once with 0, and the leader is not affected", async () => {
    const start = newElection();
    const leader = start("a", children.obedient);
    await leader.logged("phase", { phase: "leader" });
    const waiting = start("b", children.obedient);
    await waiting.logged("leader-changed", { leader: "a" });
    const sentMs = performance.now();
    waiting.kill(signal);
    expect(await waiting.exit).toEqual({ code: 0, signal: null, survivors: [] });
    expect(performance.now() - sentMs).toBeLessThan(1_000);
    expect(waiting.phases()).toEqual(["follower", "terminating"]);
    expect(leader.lines.map(({ event }) => event)).not.toContain("term-ended");
    leader.kill(signal);
    expect((await leader.exit).code).toBe(0);
  });

  it("while the child starts: stops the child, exits with 0", async () => {
    const replica = newElection()("a", children.obedient, ["--ready", "file:/nonexistent/ready"]);
    await replica.hasPrinted("up");
    replica.kill(signal);
    expect(await replica.exit).toEqual({ code: 0, signal: null, survivors: [] });
    expect(replica.phases()).toEqual(["follower", "pre-leader", "terminating"]);
    expect(await replica.logged("term-ended")).toMatchObject({ released: true });
  });

  it("a second time while the child stops: kills the child, exits with 1", async () => {
    const replica = newElection()("a", children.ignoresSigterm, ["--stop-timeout", "60s"]);
    await replica.hasPrinted("up");
    replica.kill(signal);
    await replica.logged("child-stopping");
    const sentMs = performance.now();
    // Signals within half a second of the first one count as the same request.
    const impatience = setInterval(() => replica.kill(signal), 100);
    expect(await replica.exit).toEqual({ code: 1, signal: null, survivors: [] });
    clearInterval(impatience);
    expect(performance.now() - sentMs).toBeLessThan(3_000);
    expect(await replica.logged("term-ended")).toMatchObject({ released: true });
  });

  it("while tenure waits for the credentials of the pod: exits at once with 0", async () => {
    const pod = {
      KUBERNETES_SERVICE_HOST: "127.0.0.1",
      KUBERNETES_SERVICE_PORT: "1",
      TENURE_SERVICEACCOUNT_DIR: "/nonexistent",
    };
    const replica = startTenure(
      ["run", "--lease-lock-name", "x", "--id", "a", "--", ...children.obedient],
      pod,
    );
    await replica.logged("waiting");
    replica.kill(signal);
    expect(await replica.exit).toEqual({ code: 0, signal: null, survivors: [] });
  });

  it("while the API server is unreachable: exits at once with 0", async () => {
    const replica = startTenure([
      ...["run", "--sandbox", "http://127.0.0.1:1", "--lease-lock-name", "x", "--id", "a"],
      ...["--", ...children.obedient],
    ]);
    await replica.logged("error");
    replica.kill(signal);
    expect(await replica.exit).toEqual({ code: 0, signal: null, survivors: [] });
  });
});

describe("SIGHUP, SIGUSR1 and SIGUSR2", { timeout: 30_000 }, () => {
  it("are forwarded to the child, and do not end tenure", async () => {
    const replica = newElection()("a", children.listens);
    await replica.hasPrinted("up");
    for (const signal of ["SIGHUP", "SIGUSR1", "SIGUSR2"] as const) {
      replica.kill(signal);
      await replica.hasPrinted(signal);
    }
    replica.kill("SIGTERM");
    expect((await replica.exit).code).toBe(0);
  });

  it("do not affect a replica without a child", async () => {
    const start = newElection();
    const leader = start("a", children.obedient);
    await leader.logged("phase", { phase: "leader" });
    const waiting = start("b", children.obedient);
    await waiting.logged("leader-changed", { leader: "a" });
    for (const signal of ["SIGHUP", "SIGUSR1", "SIGUSR2"] as const) waiting.kill(signal);
    leader.kill("SIGTERM");
    await waiting.logged("phase", { phase: "leader" });
    waiting.kill("SIGTERM");
    expect((await waiting.exit).code).toBe(0);
  });
});

describe("three replicas", { timeout: 60_000 }, () => {
  it("exactly one runs its child, and SIGTERM to it hands over to the next", async () => {
    const start = newElection();
    let left = ["a", "b", "c"].map((id) => start(id, children.slowToStop(0.2)));
    for (const turn of [3, 2, 1]) {
      const leader = await Promise.any(
        left.map(async (replica) => {
          await replica.logged("phase", { phase: "leader" });
          await replica.hasPrinted("up");
          return replica;
        }),
      );
      left = left.filter((replica) => replica !== leader);
      expect(left.length).toBe(turn - 1);
      for (const other of left) expect([other.printed, other.descendants()]).toEqual([[], []]);
      leader.kill("SIGTERM");
      expect(await leader.exit).toEqual({ code: 0, signal: null, survivors: [] });
      expect(leader.printed).toEqual(["up", "stopped"]);
    }
  });

  it("after the leader is killed, another one runs its child, but not before the lease expires", async () => {
    const start = newElection();
    const leader = start("a", children.ignoresSigterm, shortLease);
    await leader.hasPrinted("up");
    const next = start("b", children.obedient, shortLease);
    await next.logged("leader-changed", { leader: "a" });
    leader.kill("SIGKILL");
    await leader.exit;
    const { spec } = await client.request<Lease>({ method: "GET", path: leasePath(count) });
    expect(spec.holderIdentity).toBe("a");
    await next.hasPrinted("up");
    expect(leader.descendants()).toEqual([]);
    const { time } = await next.logged("child-started");
    // Counted from the time in the lease; a candidate counts from when it saw the renewal, which is a little later.
    expect(Date.parse(time)).toBeGreaterThan(Date.parse(spec.renewTime) + 2_000);
    next.kill("SIGTERM");
    expect((await next.exit).code).toBe(0);
  });
});

/** Runs a command as PID 1 of its own namespace, as in a container. */
const container = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"];
const canUnshare = spawnSync("unshare", [...container.slice(1), "true"]).status === 0;
if (!canUnshare)
  console.warn("unshare --pid does not work here: skipping the tests with tenure as PID 1 of a container");

describe.runIf(canUnshare)("as PID 1 of a container", { timeout: 30_000 }, () => {
  it.each([
    ["obeys", children.obedient, 0],
    ["ignores SIGTERM", children.ignoresSigterm, 1],
    ["daemonises", children.daemonises, 0],
  ])("SIGTERM ends it and a child that %s", async (_name, child, code) => {
    const flags = ["--kubeconfig", world.kubeconfig, "--lease-lock-name", `signals-${++count}`, "--id", "a"];
    const replica = startTenure(["run", ...flags, "--stop-timeout", "1s", "--", ...child], {}, container);
    await replica.hasPrinted("up");
    await replica.logged("phase", { phase: "leader" });
    expect(replica.lines[0]?.pid).toBe(1);
    const [inside] = childrenOf(replica.pid);
    process.kill(inside as number, "SIGTERM");
    expect(await replica.exit).toEqual({ code, signal: null, survivors: [] });
    expect(await replica.logged("term-ended")).toMatchObject({ reason: "shutdown", released: true });
  });
});

describe.runIf(canUnshare)("under an init that is PID 1 of a container", { timeout: 30_000 }, () => {
  it("no daemon is left, even one without the marker, in another session and without parents", async () => {
    // A shell with the name of an init: it adopts orphans and waits for them, as tini does.
    const init = join(world.folder, "tini");
    await copyFile("/bin/sh", init);
    const name = `signals-${++count}`;
    const flags = ["--kubeconfig", world.kubeconfig, "--lease-lock-name", name, "--id", "a"];
    const child = "env -i setsid sh -c 'setsid sleep 1000 & exit 0'; echo up; exec sleep 1000";
    // It lives on after tenure has ended, and lists what is left.
    const ps = "cat /proc/[0-9]*/comm; echo listed";
    const script = `"$@" & trap 'kill -TERM $!' TERM; wait; wait $!; trap - TERM; ${ps}; exec sleep 1000`;
    const replica = startTenure(["run", ...flags, "--", "sh", "-c", child], {}, [
      ...container,
      init,
      "-c",
      script,
      "tini",
    ]);
    await replica.hasPrinted("up");
    await replica.logged("phase", { phase: "leader" });
    expect(replica.lines[0]?.pid).not.toBe(1);
    const [inside] = childrenOf(replica.pid);
    process.kill(inside as number, "SIGTERM");
    await replica.logged("stopped");
    await replica.hasPrinted("listed");
    expect(replica.printed).toContain("tini");
    expect(replica.printed).not.toContain("sleep");
  });
});

describe("rejected before anything starts", { timeout: 30_000 }, () => {
  it.each([
    [
      "a command that does not exist",
      [],
      ["no-such-program"],
      127,
      "Cannot run no-such-program: no directory in PATH",
    ],
    [
      "a command that is not executable",
      [],
      ["/etc/passwd"],
      126,
      "Cannot run /etc/passwd: it is not executable",
    ],
    ["no command", [], [], 2, "the command to run must be given"],
    [
      "timeouts that do not nest",
      ["--pod-grace-period", "20s"],
      children.obedient,
      2,
      "--pod-grace-period must be at least 1s longer than --stop-timeout",
    ],
  ])("%s", async (_name, flags, child, code, message) => {
    const replica = newElection()("a", child, flags);
    expect(await replica.exit).toEqual({ code, signal: null, survivors: [] });
    expect(replica.stderrLines.join("\n")).toContain(message);
    expect(replica.lines).toEqual([]);
  });

  it("an identity that another replica has", async () => {
    const start = newElection();
    const leader = start("a", children.obedient, ["--retry-period", "300ms"]);
    await leader.logged("phase", { phase: "leader" });
    const twin = start("a", children.obedient, ["--retry-period", "300ms"]);
    expect(await twin.exit).toEqual({ code: 3, signal: null, survivors: [] });
    expect(twin.printed).toEqual([]);
    leader.kill("SIGTERM");
    expect((await leader.exit).code).toBe(0);
  });
});

describe("a configuration file", { timeout: 30_000 }, () => {
  it("can replace all flags", async () => {
    const file = join(world.folder, "tenure.yaml");
    await writeFile(
      file,
      `kubeconfig: ${world.kubeconfig}\nlease-lock-name: from-file\nid: a\non-exit: exit\ncommand: [sh, -c, "echo it; exit 4"]\n`,
    );
    const replica = startTenure(["run"], { TENURE_CONFIG: file });
    expect((await replica.exit).code).toBe(4);
    expect(replica.printed).toEqual(["it"]);
  });
});
