/** Real processes against an API server: blocked, stopped, frozen and killed. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KubeClient, loadConfig } from "@tenure/kube";
import { type Sandbox, startSandbox } from "@tenure/sandbox";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { checkBuild, endAll, hardDeadlineMs, type ReplicaProcess, startReplica } from "./replicas.ts";

interface Lease {
  readonly metadata: { readonly resourceVersion: string };
  readonly spec: {
    readonly holderIdentity: string;
    readonly renewTime: string;
    readonly [field: string]: unknown;
  };
}

let sandbox: Sandbox;
let client: KubeClient;
let folder: string;
let kubeconfig: string;
let count = 0;

beforeAll(async () => {
  checkBuild();
  sandbox = await startSandbox();
  folder = await mkdtemp(join(tmpdir(), "tenure-election-"));
  kubeconfig = join(folder, "kubeconfig");
  await sandbox.writeKubeconfig(kubeconfig);
  client = new KubeClient(loadConfig({ kubeconfig }));
}, 60_000);
afterEach(endAll);
afterAll(async () => {
  client?.close();
  await sandbox?.close();
  await rm(folder, { recursive: true, force: true });
});

/** A new election for each test. */
function newElection() {
  const name = `election-${++count}`;
  const path = `/apis/coordination.k8s.io/v1/namespaces/default/leases/${name}`;
  const lock = { name, namespace: "default", kubeconfig };
  return {
    start: (identity: string, options: object = {}): ReplicaProcess =>
      startReplica({ lock, identity, ...options }),
    lease: () => client.request<Lease>({ method: "GET", path }),
    /** Writes another holder into the lock. */
    async takeOver(): Promise<void> {
      for (;;) {
        const lease = await this.lease();
        const body = {
          ...lease,
          spec: { ...lease.spec, holderIdentity: "somebody", leaseDurationSeconds: 60 },
        };
        try {
          await client.request({ method: "PUT", path, body });
          return;
        } catch {
          // The holder renewed in between.
        }
      }
    },
  };
}

/** Whether one replica acted between two actions of another. */
function overlaps(...replicas: ReplicaProcess[]): boolean {
  const acts = replicas.map(({ lines }) => lines.filter(({ what }) => what === "acts").map(({ at }) => at));
  const turns = acts
    .flatMap((times, who) => times.map((at) => ({ at, who })))
    .sort((a, b) => a.at - b.at)
    .map(({ who }) => who);
  const changes = turns.filter((who, index) => index > 0 && who !== turns[index - 1]).length;
  return changes >= replicas.length;
}

describe("a main thread that is blocked for longer than the lease", { timeout: 20_000 }, () => {
  it("keeps its term in worker mode: renewals go on", async () => {
    const election = newElection();
    const replica = election.start("a", { worker: true });
    await replica.printed("works");
    const rival = election.start("b");
    await rival.printed("leader");
    replica.send("block 2500");
    await replica.printed("blocked");
    const before = await election.lease();
    const { at, isValid } = await replica.printed("unblocked");
    const after = await election.lease();
    expect([before.spec.holderIdentity, after.spec.holderIdentity, isValid]).toEqual(["a", "a", true]);
    expect(Date.parse(after.spec.renewTime) - Date.parse(before.spec.renewTime)).toBeGreaterThan(1_500);
    await replica.printed("acts", { since: at });
    expect(replica.lines.map(({ what }) => what)).not.toContain("ended");
    replica.kill("SIGTERM");
    expect(await replica.exit).toMatchObject({ code: 0, stderr: "" });
    await rival.printed("works");
    expect(overlaps(replica, rival)).toBe(false);
  });

  it("loses its term without worker mode: the term is invalid as soon as the thread runs again", async () => {
    const election = newElection();
    const replica = election.start("a", { onOverrun: "report" });
    await replica.printed("works");
    const rival = election.start("b");
    await rival.printed("leader");
    replica.send("block 3000");
    const { isValid, at } = await replica.printed("unblocked");
    expect(isValid).toBe(false);
    expect(await replica.printed("asked to stop", { since: at })).toMatchObject({
      reason: expect.any(String),
    });
    expect(await replica.printed("ended")).toMatchObject({ released: false });
    await rival.printed("works");
    expect(overlaps(replica, rival)).toBe(false);
    expect((await election.lease()).spec.holderIdentity).toBe("b");
  });
});

describe("work that ignores its signal", { timeout: 20_000 }, () => {
  const message = /^tenure: the term of lease default\/election-\d+ is over, but its work has not stopped/;

  it.each([
    ["in the main thread", { worker: false }, undefined],
    ["in worker mode", { worker: true }, undefined],
    ["in worker mode, with a blocked main thread", { worker: true }, "block 60000"],
  ])("is killed with its process at the hard deadline, %s", async (_where, options, command) => {
    const election = newElection();
    const replica = election.start("a", { ...options, work: { ignoresItsSignal: true } });
    await replica.printed("works");
    if (command) {
      replica.send(command);
      await replica.printed("blocked");
    }
    const takenAt = Date.now();
    await election.takeOver();
    const exit = await replica.exit;
    expect(exit).toMatchObject({ code: null, signal: "SIGKILL" });
    expect(exit.stderr).toMatch(message);
    expect(exit.at - takenAt).toBeLessThan(hardDeadlineMs + 300);
    const asked = replica.lines.find(({ what }) => what === "asked to stop");
    expect(asked?.reason).toBe(command ? undefined : "taken-over");
    expect(replica.lines.filter(({ what, at }) => what === "acts" && asked && at > asked.at + 50)).toEqual(
      [],
    );
  });
});

describe("SIGTERM", { timeout: 20_000 }, () => {
  it.each([{ worker: false }, { worker: true }])(
    "stops the work, releases the lock, lets the next replica start, and exits (%j)",
    async (options) => {
      const election = newElection();
      const replica = election.start("a", { ...options, work: { stopsAfterMs: 2_200 } });
      await replica.printed("works");
      const rival = election.start("b", options);
      await rival.printed("leader");
      replica.kill("SIGTERM");
      await replica.printed("asked to stop");
      const stopped = await replica.printed("stopped");
      const ended = await replica.printed("ended");
      const works = await rival.printed("works");
      expect(ended).toMatchObject({ reason: "shutdown", released: true });
      expect(stopped.at).toBeLessThanOrEqual(works.at);
      expect(works.at - stopped.at).toBeLessThan(1_000);
      expect(await replica.exit).toMatchObject({ code: 0, signal: null, stderr: "" });
      expect(replica.lines.at(-1)?.what).toBe("resolved");
      expect(overlaps(replica, rival)).toBe(false);
      expect(Number(works.token)).toBeGreaterThan(
        Number(replica.lines.find(({ what }) => what === "works")?.token),
      );
    },
  );

  it("to a waiting replica ends it at once", async () => {
    const election = newElection();
    await election.start("a").printed("works");
    const other = election.start("b", { worker: true });
    await other.printed("leader");
    const askedAt = Date.now();
    other.kill("SIGTERM");
    expect(await other.exit).toMatchObject({ code: 0 });
    expect(Date.now() - askedAt).toBeLessThan(1_000);
    expect((await election.lease()).spec.holderIdentity).toBe("a");
  });
});

describe("a leader that is gone", { timeout: 20_000 }, () => {
  it("because it was killed is replaced when its lease expires", async () => {
    const election = newElection();
    const replica = election.start("a");
    await replica.printed("works");
    const rival = election.start("b");
    await rival.printed("leader");
    replica.kill("SIGKILL");
    const { at } = await replica.exit;
    const works = await rival.printed("works");
    expect(works.at - at).toBeGreaterThan(1_400);
    expect(works.at - at).toBeLessThan(2_800);
  });

  it("because it was frozen is replaced, and does not act after it resumes", async () => {
    const election = newElection();
    const replica = election.start("a");
    await replica.printed("acts");
    const rival = election.start("b");
    await rival.printed("leader");
    replica.kill("SIGSTOP");
    const { at } = await rival.printed("works");
    await rival.printed("acts", { since: at + 100 });
    replica.kill("SIGCONT");
    expect(await replica.exit).toMatchObject({ signal: "SIGKILL" });
    expect(overlaps(replica, rival)).toBe(false);
  });
});
