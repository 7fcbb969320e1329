/**
 * What each traffic mode costs, with `tenure run` in processes of its own, on the sandbox or on a real API server
 * (TENURE_CONFORMANCE_KUBECONFIG): failovers by SIGTERM, SIGKILL and SIGSTOP, and a rollout. There are never two pods in traffic.
 * Prints for how long there is none. TENURE_TRAFFIC_FAILOVERS sets the number of failovers in each mode.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connectForLocks, type LockTarget } from "../../conformance/locks-target.ts";
import { checkBuild } from "../election/replicas.ts";
import { checkRunBuild, endAll } from "../run/replicas.ts";
import { figures, type Gap, gapAfter, gapsSince } from "./gap.ts";
import { modes, type Pod, Pods } from "./pods.ts";

const signals = ["SIGTERM", "SIGKILL", "SIGSTOP"] as const;
const failovers = Number(process.env.TENURE_TRAFFIC_FAILOVERS ?? signals.length);
const replicas = 3;
/** The most that one failover or one start may take on a busy machine. */
const eachMs = 30_000;

let connection: LockTarget;
let pods: Pods | undefined;

beforeAll(async () => {
  checkBuild();
  checkRunBuild();
  connection = await connectForLocks();
}, 60_000);
afterAll(() => connection?.close());
afterEach(async () => {
  endAll();
  await pods?.close();
  pods = undefined;
});

async function startAll(mode: (typeof modes)[number]) {
  const opened = await Pods.open(connection, mode);
  pods = opened;
  const running: Pod[] = [];
  for (let index = 0; index < replicas; index++) running.push(await opened.startAndJoin());
  return { pods: opened, running, leader: await opened.inTraffic(running) };
}

function neverTwo({ observations }: Pods): void {
  expect(observations.filter((observation) => observation.pods.length > 1)).toEqual([]);
}

const where = () => (connection.target.isSandbox ? "the sandbox" : "a real API server");

describe("a leader that fails", () => {
  it.each(modes)(
    "%s: there are never two pods in traffic",
    async (mode) => {
      const { pods, ...started } = await startAll(mode);
      let { running, leader } = started;
      const gaps: (Gap & { signal: string })[] = [];
      for (let index = 0; index < failovers; index++) {
        const signal = signals[index % signals.length] as (typeof signals)[number];
        const failed = leader;
        const others = running.filter((pod) => pod !== failed);
        const sinceMs = performance.now();
        failed.replica.kill(signal);
        leader = await pods.inTraffic(others);
        gaps.push({ signal, ...gapAfter(pods.observations, sinceMs, leader.name) });
        if (signal === "SIGSTOP") {
          // It continues where it was, and is a candidate again.
          failed.replica.kill("SIGCONT");
          await failed.replica.logged("leader-changed", { leader: leader.name });
          continue;
        }
        await pods.remove(failed);
        running = [...others, await pods.startAndJoin()];
      }
      neverTwo(pods);
      expect(gaps).toHaveLength(failovers);
      const lines = signals.map((signal) => {
        const some = gaps.filter((gap) => gap.signal === signal);
        if (some.length === 0) return "";
        const gap = figures(some.map(({ gapMs }) => gapMs));
        const takeover = figures(some.map(({ takeoverMs }) => takeoverMs));
        return `\n  ${signal.padEnd(8)} no pod in traffic for ${gap.padEnd(12)} successor in traffic after ${takeover}`;
      });
      console.log(`${mode}: ${failovers} failovers on ${where()}, ms p50 / max:${lines.join("")}`);
    },
    (failovers + replicas) * eachMs,
  );
});

describe("a rollout of three pods", () => {
  it.each(["label", "endpointslice"] as const)(
    "%s: one by one, each after a new one takes part",
    async (mode) => {
      const { pods, running, leader } = await startAll(mode);
      // The worst case: the leader is replaced first, and every time an old pod takes over.
      const old = [leader, ...running.filter((pod) => pod !== leader)];
      await report(mode, pods, async () => {
        const fresh: Pod[] = [];
        for (let next = old.shift(); next; next = old.shift()) {
          fresh.push(await pods.startAndJoin());
          next.replica.kill("SIGTERM");
          await pods.remove(next);
          const successor = await pods.inTraffic([...old, ...fresh]);
          old.sort((a, b) => Number(b === successor) - Number(a === successor));
        }
        await pods.inTraffic(fresh);
      });
    },
    3 * replicas * eachMs,
  );

  it.each(["ready-file", "configmap"] as const)(
    "%s: all at once",
    async (mode) => {
      const { pods, running } = await startAll(mode);
      await report(mode, pods, async () => {
        for (const { replica } of running) replica.kill("SIGTERM");
        const fresh = await Promise.all(Array.from({ length: replicas }, () => pods.start()));
        await Promise.all(running.map((pod) => pods.remove(pod)));
        await pods.inTraffic(fresh);
      });
    },
    3 * replicas * eachMs,
  );

  async function report(mode: string, pods: Pods, roll: () => Promise<void>): Promise<void> {
    const sinceMs = performance.now();
    await roll();
    const { count, totalMs } = gapsSince(pods.observations, sinceMs);
    neverTwo(pods);
    expect(count).toBeGreaterThan(0);
    const times = count === 1 ? "once" : `${count} times`;
    console.log(
      `${mode}: a rollout on ${where()}: no pod in traffic ${times}, ${totalMs.toFixed(0)} ms in total`,
    );
  }
});
