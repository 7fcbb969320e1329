/** `tenure step-down`, `transfer`, `pause` and `resume` as processes, with real candidates and with holders that ignore orders. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { checkBuild, endAll as endMembers, type ReplicaProcess, startReplica } from "../election/replicas.ts";
import { checkRunBuild } from "../run/replicas.ts";
import { endAll, leases, record, TestCluster } from "./commands.ts";
import { StandIn } from "./stand-in.ts";

let cluster: TestCluster;
const standIns: StandIn[] = [];

beforeAll(async () => {
  checkBuild();
  checkRunBuild();
  cluster = await TestCluster.start();
}, 60_000);
afterEach(async () => {
  endAll();
  endMembers();
  for (const standIn of standIns.splice(0)) await standIn.stop();
});
afterAll(() => cluster?.close());

async function standIn(
  ...args: Parameters<typeof StandIn.start> extends [unknown, ...infer Rest] ? Rest : never
) {
  const started = await StandIn.start(cluster.client, ...args);
  standIns.push(started);
}

const annotationsOf = async (name: string) =>
  (
    await cluster.client.request<{ metadata: { annotations?: Record<string, string> } }>({
      method: "GET",
      path: `${leases("default")}/${name}`,
    })
  ).metadata.annotations ?? {};

describe("with tenure candidates", { timeout: 60_000 }, () => {
  /** Three candidates, of which the first leads. */
  async function three(name: string): Promise<ReplicaProcess[]> {
    const lock = { namespace: "default", name, kubeconfig: cluster.kubeconfig };
    const members: ReplicaProcess[] = [];
    for (const identity of ["a", "b", "c"]) {
      const member = startReplica({ lock, identity, cooldown: "5s" });
      members.push(member);
      await member.printed(identity === "a" ? "works" : "leader");
    }
    return members;
  }

  it("step-down: another candidate leads, and it prints which one and how fast", async () => {
    await three("stepping");
    const { code, out } = await cluster.tenure("step-down", "stepping");
    expect(out).toMatch(/^[bc] leads now; a stepped down \(took \d+ms\)\.\n$/);
    expect(code).toBe(0);
    expect((await cluster.tenure("status", "stepping")).out).toMatch(/leader {7}[bc]\n/);
  });

  it("transfer: the named candidate leads, and a second order does nothing", async () => {
    await three("moving");
    const { code, out } = await cluster.tenure("transfer", "moving", "--to", "c", "-o", "json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ order: "transfer", ok: true, leader: "c" });
    expect((await cluster.tenure("transfer", "moving", "--to", "c")).out).toBe(
      "c already leads, nothing to do.\n",
    );
  });

  it("transfer to a name that is not listed: rejects it at once, names the candidates, and writes no order", async () => {
    await three("unlisted-target");
    const { code, err } = await cluster.tenure("transfer", "unlisted-target", "--to", "typo");
    expect([code, err]).toEqual([
      1,
      'error: Cannot transfer default/unlisted-target: no candidate is named "typo". Candidates: a, b, c. Nothing was changed. ' +
        "To ask a candidate that does not show itself, add --unlisted\n",
    ]);
    expect(await annotationsOf("unlisted-target")).toEqual({});
  });

  it("transfer to a name that nobody has: names it and the leader, who never stops working, and leaves no order behind", async () => {
    const members = await three("missing-target");
    const { code, err } = await cluster.tenure("transfer", "missing-target", "--to", "typo", "--unlisted");
    expect([code, err]).toEqual([
      1,
      'error: No candidate named "typo" answered within 5s, so the order was withdrawn. The leader is still a. A candidate is ' +
        "named by its --id, by default the name of its pod (POD_NAME), and candidates on client-go do not answer; " +
        "see tenure status missing-target -n default\n",
    ]);
    expect(
      members.flatMap(({ lines }) => lines.map(({ what }) => what)).filter((what) => what === "works"),
    ).toHaveLength(1);
    expect(await annotationsOf("missing-target")).toEqual({});
    const again = await cluster.tenure(
      "transfer",
      "missing-target",
      "--to",
      "typo",
      "--unlisted",
      "--timeout",
      "1s",
      "-o",
      "json",
    );
    expect(again.code).toBe(1);
    expect(JSON.parse(again.out)).toMatchObject({ ok: false, leader: "a" });
    expect((await cluster.tenure("transfer", "missing-target", "--to", "b")).out).toMatch(
      /^b leads now; a handed over/,
    );
  });

  it("pause: nobody works until the election is resumed", async () => {
    const members = await three("halting");
    expect((await cluster.tenure("pause", "halting")).out).toMatch(
      /^default\/halting is paused, and nobody leads; a ended its term/,
    );
    await members[0]?.printed("stopped");
    const since = Date.now();
    expect((await cluster.tenure("status", "halting")).out).toContain("Nobody leads: the election is paused");
    const again = await cluster.tenure("pause", "halting");
    expect([again.code, again.out]).toEqual([0, "default/halting is already paused, and nobody leads.\n"]);
    const rejected = await cluster.tenure("step-down", "halting");
    expect([rejected.code, rejected.err]).toEqual([
      1,
      "error: Cannot make the leader step down in default/halting. Nobody leads: the election is paused\n",
    ]);
    for (const { lines } of members) {
      expect(lines.filter(({ what, at }) => what === "works" && at >= since)).toEqual([]);
    }
    expect((await cluster.tenure("resume", "halting")).out).toMatch(
      /^default\/halting is resumed, and [abc] leads \(took /,
    );
    expect((await cluster.tenure("resume", "halting")).out).toBe(
      "default/halting is not paused, nothing to do.\n",
    );
  });
});

describe("with a holder that ignores orders", () => {
  it.each([
    [
      "step-down",
      [],
      /pod-a did not step down within 1s and still renews its lease: either it is not a tenure candidate .* The order expires with this term\./,
    ],
    // A candidate accepts, but the holder does not hand over.
    ["transfer", ["--to", "pod-b"], /pod-a did not hand over within 1s/],
    [
      "pause",
      [],
      /pod-a did not end its term within 1s .* The pause stays in force; end it with tenure resume deaf-pause -n default\./,
    ],
  ])(
    "%s reports that after the timeout, even if every write conflicts with a renewal",
    async (order, flags, words) => {
      await standIn("default", `deaf-${order}`, "pod-a");
      if (order === "transfer") {
        const lock = { namespace: "default", name: "deaf-transfer", kubeconfig: cluster.kubeconfig };
        await startReplica({ lock, identity: "pod-b" }).printed("leader");
      }
      const { code, out, err } = await cluster.tenure(order, `deaf-${order}`, ...flags, "--timeout", "1s");
      expect([code, out]).toEqual([1, ""]);
      expect(err).toMatch(words);
    },
  );
});

describe("with a holder that obeys in another way", () => {
  it("transfer fails if another candidate wins", async () => {
    await standIn("default", "overtaken", "pod-a", ({ metadata, spec }) =>
      metadata.annotations?.["tenure.dev/transfer"] === `3/pod-b` && spec.holderIdentity === "pod-a"
        ? "pod-c"
        : undefined,
    );
    const { code, err } = await cluster.tenure("transfer", "overtaken", "--to", "pod-b");
    expect([code, err]).toEqual([1, expect.stringContaining("pod-c leads now instead of pod-b")]);
  });

  it("step-down fails if another user withdraws it", async () => {
    await standIn("default", "taken-back", "pod-a");
    const stepping = cluster.start("step-down", "taken-back");
    await expect
      .poll(() => annotationsOf("taken-back"), { timeout: 10_000 })
      .toEqual({ "tenure.dev/step-down": "3" });
    await cluster.client.request({
      method: "PATCH",
      path: `${leases("default")}/taken-back`,
      contentType: "application/merge-patch+json",
      body: { metadata: { annotations: { "tenure.dev/step-down": null } } },
    });
    const { code, err } = await stepping.ran;
    expect([code, err]).toEqual([1, expect.stringContaining("withdrawn")]);
  });

  it("step-down without a successor reports that nobody took over", async () => {
    await standIn("default", "alone", "pod-a", ({ metadata }) =>
      metadata.annotations?.["tenure.dev/step-down"] ? "" : undefined,
    );
    const { code, err } = await cluster.tenure("step-down", "alone", "--timeout", "1s");
    expect([code, err]).toEqual([
      1,
      expect.stringContaining("pod-a ended its term, but nobody took over within 1s"),
    ]);
  });

  it("--no-wait writes the order and exits; a new order replaces the other orders of this term", async () => {
    await standIn("default", "no-wait", "pod-a");
    const first = await cluster.tenure("step-down", "no-wait", "--no-wait");
    expect([first.code, first.out]).toEqual([0, "pod-a was told to step down.\n"]);
    await cluster.tenure("transfer", "no-wait", "--to", "pod-b", "--no-wait");
    expect(await annotationsOf("no-wait")).toEqual({ "tenure.dev/transfer": "3/pod-b" });
  });

  it("Ctrl-C ends the wait, and reports that the order stays in force", async () => {
    await standIn("default", "interrupted", "pod-a");
    const waiting = cluster.start("step-down", "interrupted");
    await expect
      .poll(() => annotationsOf("interrupted"), { timeout: 10_000 })
      .toHaveProperty(["tenure.dev/step-down"]);
    waiting.kill("SIGINT");
    const { code, err } = await waiting.ran;
    expect([code, err]).toEqual([
      1,
      "error: Stopped waiting. The order stays in force; check it with tenure status\n",
    ]);
  });

  it("orders work with a lock of another kind, and change nothing else in it", async () => {
    const { leaseTransitions, ...rest } = record("pod-a") as { leaseTransitions: number };
    const leader = JSON.stringify({ ...rest, leaderTransitions: leaseTransitions });
    const annotations = { "control-plane.alpha.kubernetes.io/leader": leader, other: "1" };
    const path = "/api/v1/namespaces/default/configmaps";
    await cluster.create(path, { metadata: { name: "legacy", annotations }, data: { keep: "me" } });
    expect((await cluster.tenure("pause", "legacy", "--no-wait")).code).toBe(0);
    const after = await cluster.client.request({ method: "GET", path: `${path}/legacy` });
    expect(after).toMatchObject({
      metadata: { annotations: { ...annotations, "tenure.dev/paused": "true" } },
      data: { keep: "me" },
    });
  });
});

describe("an order that nobody has answered yet", () => {
  it("is shown by status, and is not withdrawn if it is accepted at the last moment", async () => {
    await standIn("default", "late", "pod-a", ({ metadata, spec }) =>
      metadata.annotations?.["tenure.dev/transfer-accepted"] === "3/pod-b" && spec.holderIdentity === "pod-a"
        ? "pod-b"
        : undefined,
    );
    const waiting = cluster.start("transfer", "late", "--to", "pod-b", "--timeout", "20s");
    await expect
      .poll(() => annotationsOf("late"), { timeout: 10_000 })
      .toEqual({ "tenure.dev/transfer": "3/pod-b" });
    expect((await cluster.tenure("status", "late")).out).toContain(
      "pod-b was asked to take over and has not answered",
    );
    await cluster.client.request({
      method: "PATCH",
      path: `${leases("default")}/late`,
      contentType: "application/merge-patch+json",
      body: { metadata: { annotations: { "tenure.dev/transfer-accepted": "3/pod-b" } } },
    });
    const { code, out } = await waiting.ran;
    expect([code, out]).toEqual([0, expect.stringContaining("pod-b leads now; pod-a handed over")]);
  });
});
