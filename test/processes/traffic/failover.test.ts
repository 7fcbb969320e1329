/**
 * Twenty failovers: the leader steps down, crashes, or is delayed so that its requests arrive after its successor has taken
 * over. A witness watches which pods receive traffic by label, EndpointSlice and ConfigMap: never two. The time without a
 * pod in traffic is measured and printed. Runs on the sandbox, or on a real API server if TENURE_CONFORMANCE_KUBECONFIG is set.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connectForLocks, eventually, type LockTarget } from "../../conformance/locks-target.ts";
import { figures, type Gap, gapAfter } from "./gap.ts";
import { electionName, type Replica, rules, startReplica } from "./replicas.ts";
import { Witness } from "./witness.ts";

const [stepDown, crash, delay] = ["step-down", "crash", "delay"] as const;
type Failover = typeof stepDown | typeof crash | typeof delay;

/** In an order in which each kind follows each kind. */
const failovers: readonly Failover[] = [
  ...[stepDown, stepDown, crash, crash, delay, delay, stepDown, delay, crash, stepDown],
  ...[stepDown, crash, stepDown, delay, stepDown, stepDown, crash, stepDown, crash, stepDown],
];

let connection: LockTarget;
let witness: Witness;
let replicas: Replica[] = [];
let gone: Replica[] = [];
let count = 0;

beforeAll(async () => {
  connection = await connectForLocks();
}, 60_000);
afterAll(() => connection?.close());
afterEach(async () => {
  for (const replica of gone) replica.crash();
  await Promise.all(replicas.map((replica) => replica.leave()));
  await witness.end();
  replicas = [];
  gone = [];
});

async function startReplicas(size: number) {
  const { target } = connection;
  const namespace = await target.namespace();
  const kubeconfig = await connection.serviceAccount(namespace, rules);
  await target.request("POST", `/api/v1/namespaces/${namespace}/services`, {
    metadata: { name: electionName },
    spec: { ports: [{ name: "http", port: 80, targetPort: 8080 }] },
  });
  witness = new Witness(connection.kubeconfig);
  await witness.start(namespace);
  const add = async () => {
    const replica = await startReplica(connection, kubeconfig, namespace, ++count);
    replicas.push(replica);
    return replica;
  };
  for (let index = 0; index < size; index++) await add();
  const remove = async (replica: Replica) => {
    await target.request("DELETE", `/api/v1/namespaces/${namespace}/pods/${replica.pod}`);
  };
  return { namespace, add, remove };
}

/** Waits for the leader that receives traffic by every gate. */
async function leaderInTraffic(): Promise<Replica> {
  const found = () => replicas.find(({ pod, isLeading }) => isLeading && witness.isOnlyPod(pod));
  await witness.until(() => found() !== undefined, "a leader in traffic");
  return found() as Replica;
}

describe("twenty failovers", () => {
  it("never put more than one pod into traffic, by any gate", async () => {
    const { add, remove } = await startReplicas(3);
    const gaps: GateGap[] = [];
    for (const failover of failovers) {
      const leader = await leaderInTraffic();
      replicas = replicas.filter((replica) => replica !== leader);
      gone.push(leader);
      const sinceMs = performance.now();
      if (failover === stepDown) leader.election.stepDown({ cooldown: "60s" });
      else if (failover === crash) leader.crash();
      else leader.delay();
      const successor = await leaderInTraffic();
      for (const [gate, observations] of Object.entries(witness.gates)) {
        gaps.push({ failover, gate, ...gapAfter(observations, sinceMs, successor.pod) });
      }
      gone = gone.filter((replica) => replica !== leader);
      if (failover === delay) {
        // Its delayed requests arrive now, and so does everything that it tries when it continues. Then it is a candidate again.
        leader.resume();
        replicas.push(leader);
        continue;
      }
      if (failover === stepDown) await leader.leave();
      else await remove(leader);
      await add();
    }
    const last = await leaderInTraffic();
    await eventually(() => last.election.term?.isValid() === true, "the last leader still has a valid term");
    print(gaps);
    for (const [gate, observations] of Object.entries(witness.gates)) {
      const withTwo = observations.filter(({ pods }) => pods.length > 1);
      expect(withTwo, `${gate} named two pods`).toEqual([]);
      expect(observations.filter(({ pods }) => pods.length === 1).length).toBe(failovers.length + 1);
    }
  }, 240_000);
});

describe("a leader that steps down", () => {
  it("is out of traffic before it releases the lease, and its successor enters traffic after it acquired the lease", async () => {
    await startReplicas(2);
    const rounds = 5;
    for (let round = 0; round < rounds; round++) {
      const leader = await leaderInTraffic();
      leader.election.stepDown({ cooldown: "1ms" });
      await witness.until(() => witness.lease.at(-1)?.pods.join() !== leader.pod, "the release of the lease");
      await witness.until(() => !witness.isOnlyPod(leader.pod), "another pod in traffic");
    }
    await leaderInTraffic();
    const releases = witness.lease.filter(({ pods }) => pods.length === 0);
    expect(releases.length).toBeGreaterThanOrEqual(rounds);
    const leaseAt = (revision: bigint) =>
      witness.lease.filter(({ revision: at }) => at <= revision).at(-1)?.pods ?? [];
    for (const [gate, observations] of Object.entries(witness.gates)) {
      for (const release of releases) {
        const before = observations.filter(({ revision }) => revision < release.revision).at(-1);
        expect(before?.pods, `${gate} when the lease was released`).toEqual([]);
      }
      // A pod that enters traffic holds the lease at that revision of the store.
      for (const { pods, revision } of observations.filter(({ pods: [pod] }) => pod)) {
        expect(leaseAt(revision), `${gate} named ${pods}`).toEqual(pods);
      }
    }
  }, 60_000);
});

interface GateGap extends Gap {
  readonly failover: Failover;
  readonly gate: string;
}

function print(gaps: readonly GateGap[]): void {
  const where = connection.target.isSandbox ? "the sandbox" : "a real API server";
  const lines = [`${failovers.length} failovers on ${where}, milliseconds p50 / max:`];
  for (const failover of [stepDown, crash, delay]) {
    for (const name of Object.keys(witness.gates)) {
      const some = gaps.filter((gap) => gap.failover === failover && gap.gate === name);
      const gap = figures(some.map(({ gapMs }) => gapMs));
      const takeover = figures(some.map(({ takeoverMs }) => takeoverMs));
      lines.push(
        `  ${failover.padEnd(9)} ${name.padEnd(10)} no pod in traffic for ${gap.padEnd(12)}` +
          ` successor in traffic after ${takeover}`,
      );
    }
  }
  console.log(lines.join("\n"));
}
