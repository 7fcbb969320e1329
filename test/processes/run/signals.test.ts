/** Signals to the built command, in every phase; three replicas, of which one works. */
import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
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
  it("before leadership: leaves at once, with 0, and the leader does not notice", async () => {
    const start = newElection();
    const leader = start("a", children.obedient);
    await leader.said("phase", { phase: "leader" });
    const waiting = start("b", children.obedient);
    await waiting.said("leader-changed", { leader: "a" });
    const sentMs = performance.now();
    waiting.kill(signal);
    expect(await waiting.exit).toEqual({ code: 0, signal: null, survivors: [] });
    expect(performance.now() - sentMs).toBeLessThan(1_000);
    expect(waiting.phases()).toEqual(["follower", "terminating"]);
    expect(leader.lines.map(({ event }) => event)).not.toContain("term-ended");
    leader.kill(signal);
    expect((await leader.exit).code).toBe(0);
  });

  it("while the child starts: it is stopped, with 0", async () => {
    const replica = newElection()("a", children.obedient, ["--ready", "file:/nonexistent/ready"]);
    await replica.prints("up");
    replica.kill(signal);
    expect(await replica.exit).toEqual({ code: 0, signal: null, survivors: [] });
    expect(replica.phases()).toEqual(["follower", "pre-leader", "terminating"]);
    expect(await replica.said("term-ended")).toMatchObject({ released: true });
  });

  it("once more while the child stops: it is killed now, with 1", async () => {
    const replica = newElection()("a", children.ignoresSigterm, ["--stop-timeout", "60s"]);
    await replica.prints("up");
    replica.kill(signal);
    await replica.said("child-stopping");
    const sentMs = performance.now();
    replica.kill(signal);
    expect(await replica.exit).toEqual({ code: 1, signal: null, survivors: [] });
    expect(performance.now() - sentMs).toBeLessThan(2_000);
    expect(await replica.said("term-ended")).toMatchObject({ released: true });
  });

  it("while the credentials of the pod are waited for: leaves at once, with 0", async () => {
    const pod = {
      KUBERNETES_SERVICE_HOST: "127.0.0.1",
      KUBERNETES_SERVICE_PORT: "1",
      TENURE_SERVICEACCOUNT_DIR: "/nonexistent",
    };
    const replica = startTenure(
      ["run", "--lease-lock-name", "x", "--id", "a", "--", ...children.obedient],
      pod,
    );
    await replica.said("waiting");
    replica.kill(signal);
    expect(await replica.exit).toEqual({ code: 0, signal: null, survivors: [] });
  });

  it("with no API server to be reached: leaves at once, with 0", async () => {
    const replica = startTenure([
      ...["run", "--sandbox", "http://127.0.0.1:1", "--lease-lock-name", "x", "--id", "a"],
      ...["--", ...children.obedient],
    ]);
    await replica.said("error");
    replica.kill(signal);
    expect(await replica.exit).toEqual({ code: 0, signal: null, survivors: [] });
  });
});

describe("signals of the child", { timeout: 30_000 }, () => {
  it("are passed on, and end nothing", async () => {
    const replica = newElection()("a", children.listens);
    await replica.prints("up");
    for (const signal of ["SIGHUP", "SIGUSR1", "SIGUSR2"] as const) {
      replica.kill(signal);
      await replica.prints(signal);
    }
    replica.kill("SIGTERM");
    expect((await replica.exit).code).toBe(0);
  });

  it("mean nothing to a replica without a child", async () => {
    const start = newElection();
    const leader = start("a", children.obedient);
    await leader.said("phase", { phase: "leader" });
    const waiting = start("b", children.obedient);
    await waiting.said("leader-changed", { leader: "a" });
    for (const signal of ["SIGHUP", "SIGUSR1", "SIGUSR2"] as const) waiting.kill(signal);
    leader.kill("SIGTERM");
    await waiting.said("phase", { phase: "leader" });
    waiting.kill("SIGTERM");
    expect((await waiting.exit).code).toBe(0);
  });
});

describe("three replicas", { timeout: 60_000 }, () => {
  it("exactly one runs its child; SIGTERM to it hands over, until nobody is left", async () => {
    const start = newElection();
    let left = ["a", "b", "c"].map((id) => start(id, children.slowToStop(0.2)));
    for (const turn of [3, 2, 1]) {
      const leader = await Promise.any(
        left.map(async (replica) => {
          await replica.said("phase", { phase: "leader" });
          await replica.prints("up");
          return replica;
        }),
      );
      left = left.filter((replica) => replica !== leader);
      expect(left.length).toBe(turn - 1);
      for (const other of left) expect([other.printed, other.family()]).toEqual([[], []]);
      leader.kill("SIGTERM");
      expect(await leader.exit).toEqual({ code: 0, signal: null, survivors: [] });
      expect(leader.printed).toEqual(["up", "stopped"]);
    }
  });

  it("another one runs its child when the leader was killed, and only after its lease", async () => {
    const start = newElection();
    const leader = start("a", children.ignoresSigterm, shortLease);
    await leader.prints("up");
    const next = start("b", children.obedient, shortLease);
    await next.said("leader-changed", { leader: "a" });
    leader.kill("SIGKILL");
    await leader.exit;
    const { spec } = await client.request<Lease>({ method: "GET", path: leasePath(count) });
    expect(spec.holderIdentity).toBe("a");
    await next.prints("up");
    expect(leader.family()).toEqual([]);
    const { time } = await next.said("child-started");
    // From what the lease says; a candidate counts from when it saw that, which is a little later.
    expect(Date.parse(time)).toBeGreaterThan(Date.parse(spec.renewTime) + 2_000);
    next.kill("SIGTERM");
    expect((await next.exit).code).toBe(0);
  });
});

/** Process 1 of a namespace of its own, as in a container. */
const container = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"];
const canUnshare = spawnSync("unshare", [...container.slice(1), "true"]).status === 0;
if (!canUnshare)
  console.warn("unshare --pid is not possible here: tenure as process 1 of a container is not tested");

describe.runIf(canUnshare)("as process 1 of a container", { timeout: 30_000 }, () => {
  it.each([
    ["obeys", children.obedient, 0],
    ["ignores SIGTERM", children.ignoresSigterm, 1],
    ["daemonises", children.daemonises, 0],
  ])("SIGTERM ends it and a child that %s", async (_name, child, code) => {
    const flags = ["--kubeconfig", world.kubeconfig, "--lease-lock-name", `signals-${++count}`, "--id", "a"];
    const replica = startTenure(["run", ...flags, "--stop-timeout", "1s", "--", ...child], {}, container);
    await replica.prints("up");
    await replica.said("phase", { phase: "leader" });
    expect(replica.lines[0]?.pid).toBe(1);
    const [inside] = childrenOf(replica.pid);
    process.kill(inside as number, "SIGTERM");
    expect(await replica.exit).toEqual({ code, signal: null, survivors: [] });
    expect(await replica.said("term-ended")).toMatchObject({ reason: "shutdown", released: true });
  });
});

describe("refused before anything is started", { timeout: 30_000 }, () => {
  it.each([
    [
      "a command that is not there",
      [],
      ["no-such-program"],
      127,
      "Cannot run no-such-program: there is no program",
    ],
    [
      "a command that cannot be run",
      [],
      ["/etc/passwd"],
      126,
      "Cannot run /etc/passwd: it is not executable",
    ],
    ["no command", [], [], 2, "there is no command"],
    [
      "timeouts that do not nest",
      ["--pod-grace-period", "20s"],
      children.obedient,
      2,
      "--pod-grace-period must be at least 1s longer than --stop-timeout",
    ],
  ])("%s", async (_name, flags, child, code, complaint) => {
    const replica = newElection()("a", child, flags);
    expect(await replica.exit).toEqual({ code, signal: null, survivors: [] });
    expect(replica.complaints.join("\n")).toContain(complaint);
    expect(replica.lines).toEqual([]);
  });

  it("an identity that somebody else has", async () => {
    const start = newElection();
    const leader = start("a", children.obedient, ["--retry-period", "300ms"]);
    await leader.said("phase", { phase: "leader" });
    const twin = start("a", children.obedient, ["--retry-period", "300ms"]);
    expect(await twin.exit).toEqual({ code: 3, signal: null, survivors: [] });
    expect(twin.printed).toEqual([]);
    leader.kill("SIGTERM");
    expect((await leader.exit).code).toBe(0);
  });

  it("a file with everything in it is enough", async () => {
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
