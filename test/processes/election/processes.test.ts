/** Real processes against an API server: blocked, stopped, frozen and killed. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KubeClient, loadConfig } from "@tenure/kube";
import { type Sandbox, startSandbox } from "@tenure/sandbox";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { checkBuild, endAll, hardDeadlineMs, type Member, startMember } from "./members.ts";

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

/** An election of its own for each test. */
function newElection() {
  const name = `election-${++count}`;
  const path = `/apis/coordination.k8s.io/v1/namespaces/default/leases/${name}`;
  const lock = { name, namespace: "default", kubeconfig };
  return {
    start: (identity: string, options: object = {}): Member => startMember({ lock, identity, ...options }),
    lease: () => client.request<Lease>({ method: "GET", path }),
    /** Somebody takes the lock away, whoever holds it. */
    async takeAway(): Promise<void> {
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
          // Renewed in between.
        }
      }
    },
  };
}

/** Nothing acted for one while it acted for another. */
function overlaps(...members: Member[]): boolean {
  const acts = members.map(({ lines }) => lines.filter(({ what }) => what === "acts").map(({ at }) => at));
  const turns = acts
    .flatMap((times, who) => times.map((at) => ({ at, who })))
    .sort((a, b) => a.at - b.at)
    .map(({ who }) => who);
  const changes = turns.filter((who, index) => index > 0 && who !== turns[index - 1]).length;
  return changes >= members.length;
}

describe("a main thread that is blocked for longer than the lease", { timeout: 20_000 }, () => {
  it("costs nothing in worker mode: renewals go on, and the term is still valid", async () => {
    const election = newElection();
    const member = election.start("a", { worker: true });
    await member.said("works");
    const rival = election.start("b");
    await rival.said("leader");
    member.order("block 2500");
    await member.said("blocked");
    const before = await election.lease();
    const { at, isValid } = await member.said("unblocked");
    const after = await election.lease();
    expect([before.spec.holderIdentity, after.spec.holderIdentity, isValid]).toEqual(["a", "a", true]);
    expect(Date.parse(after.spec.renewTime) - Date.parse(before.spec.renewTime)).toBeGreaterThan(1_500);
    await member.said("acts", { since: at });
    expect(member.lines.map(({ what }) => what)).not.toContain("ended");
    member.kill("SIGTERM");
    expect(await member.exit).toMatchObject({ code: 0, stderr: "" });
    await rival.said("works");
    expect(overlaps(member, rival)).toBe(false);
  });

  it("costs the term without: it is over as soon as the work can ask, and noticed", async () => {
    const election = newElection();
    const member = election.start("a", { onOverrun: "report" });
    await member.said("works");
    const rival = election.start("b");
    await rival.said("leader");
    member.order("block 3000");
    const { isValid, at } = await member.said("unblocked");
    expect(isValid).toBe(false);
    expect(await member.said("told", { since: at })).toMatchObject({ reason: expect.any(String) });
    expect(await member.said("ended")).toMatchObject({ released: false });
    await rival.said("works");
    expect(overlaps(member, rival)).toBe(false);
    expect((await election.lease()).spec.holderIdentity).toBe("b");
  });
});

describe("work that ignores its signal", { timeout: 20_000 }, () => {
  const sentence = /^tenure: the term of lease default\/election-\d+ is over, but its work has not stopped/;

  it.each([
    ["in the main thread", { worker: false }, undefined],
    ["in worker mode", { worker: true }, undefined],
    ["in worker mode, with a blocked main thread", { worker: true }, "block 60000"],
  ])("is killed with its process at the hard deadline, %s", async (_where, options, order) => {
    const election = newElection();
    const member = election.start("a", { ...options, work: { ignoresItsSignal: true } });
    await member.said("works");
    if (order) {
      member.order(order);
      await member.said("blocked");
    }
    const takenAt = Date.now();
    await election.takeAway();
    const exit = await member.exit;
    expect(exit).toMatchObject({ code: null, signal: "SIGKILL" });
    expect(exit.stderr).toMatch(sentence);
    expect(exit.at - takenAt).toBeLessThan(hardDeadlineMs + 300);
    const told = member.lines.find(({ what }) => what === "told");
    expect(told?.reason).toBe(order ? undefined : "taken-over");
    expect(member.lines.filter(({ what, at }) => what === "acts" && told && at > told.at + 50)).toEqual([]);
  });
});

describe("SIGTERM", { timeout: 20_000 }, () => {
  it.each([{ worker: false }, { worker: true }])(
    "hands over in order: stopped, released, taken; and the process ends by itself (%j)",
    async (options) => {
      const election = newElection();
      const member = election.start("a", { ...options, work: { stopsAfterMs: 2_200 } });
      await member.said("works");
      const rival = election.start("b", options);
      await rival.said("leader");
      member.kill("SIGTERM");
      await member.said("told");
      const stopped = await member.said("stopped");
      const ended = await member.said("ended");
      const works = await rival.said("works");
      expect(ended).toMatchObject({ reason: "shutdown", released: true });
      expect(stopped.at).toBeLessThanOrEqual(works.at);
      expect(works.at - stopped.at).toBeLessThan(1_000);
      expect(await member.exit).toMatchObject({ code: 0, signal: null, stderr: "" });
      expect(member.lines.at(-1)?.what).toBe("resolved");
      expect(overlaps(member, rival)).toBe(false);
      expect(Number(works.token)).toBeGreaterThan(
        Number(member.lines.find(({ what }) => what === "works")?.token),
      );
    },
  );

  it("to one that waits ends it at once", async () => {
    const election = newElection();
    await election.start("a").said("works");
    const other = election.start("b", { worker: true });
    await other.said("leader");
    const askedAt = Date.now();
    other.kill("SIGTERM");
    expect(await other.exit).toMatchObject({ code: 0 });
    expect(Date.now() - askedAt).toBeLessThan(1_000);
    expect((await election.lease()).spec.holderIdentity).toBe("a");
  });
});

describe("a leader that is not there any more", { timeout: 20_000 }, () => {
  it("killed: followed when its lease has run out", async () => {
    const election = newElection();
    const member = election.start("a");
    await member.said("works");
    const rival = election.start("b");
    await rival.said("leader");
    member.kill("SIGKILL");
    const { at } = await member.exit;
    const works = await rival.said("works");
    expect(works.at - at).toBeGreaterThan(1_400);
    expect(works.at - at).toBeLessThan(2_800);
  });

  it("frozen: followed, and when it thaws it does not act once more", async () => {
    const election = newElection();
    const member = election.start("a");
    await member.said("acts");
    const rival = election.start("b");
    await rival.said("leader");
    member.kill("SIGSTOP");
    const { at } = await rival.said("works");
    await rival.said("acts", { since: at + 100 });
    member.kill("SIGCONT");
    expect(await member.exit).toMatchObject({ signal: "SIGKILL" });
    expect(overlaps(member, rival)).toBe(false);
  });
});
