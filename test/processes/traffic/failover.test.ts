/**
 * Twenty times the leader goes: asked to, dead, or held up so that what it sent arrives after its successor is there. A
 * witness sees by watches whom traffic reaches, by label, EndpointSlice and ConfigMap: never two. How long there was nobody
 * is measured and printed. On the sandbox, and on a real API server when TENURE_CONFORMANCE_KUBECONFIG is set.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connectForLocks, eventually, type LockTarget } from "../../conformance/locks-target.ts";
import { electionName, type Replica, rules, startReplica } from "./replicas.ts";
import { type Sight, Witness } from "./witness.ts";

type Going = "asked" | "dead" | "held up";

/** In an order in which each follows each. */
const goings: readonly Going[] = [
  ...["asked", "asked", "dead", "dead", "held up", "held up", "asked", "held up", "dead", "asked"],
  ...["asked", "dead", "asked", "held up", "asked", "asked", "dead", "asked", "dead", "asked"],
] as Going[];

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

async function set(size: number) {
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

/** The one that leads and is reached in every way. */
async function reached(): Promise<Replica> {
  const found = () => replicas.find(({ pod, isLeading }) => isLeading && witness.isReached(pod));
  await witness.until(() => found() !== undefined, "a leader that is reached");
  return found() as Replica;
}

/** How long nobody was reached after that moment, or the one before was reached though he was gone. */
function gapAfter(sights: readonly Sight[], sinceMs: number, successor: string) {
  const arrival = sights.find(({ atMs, pods }) => atMs >= sinceMs && pods.includes(successor));
  const empty = sights.find(({ atMs, pods }) => atMs >= sinceMs && pods.length === 0);
  const arrivedMs = arrival?.atMs ?? Number.NaN;
  return { nobodyMs: empty ? arrivedMs - empty.atMs : 0, untilReachedMs: arrivedMs - sinceMs };
}

describe("through twenty failovers", () => {
  it("there is never more than one pod in traffic, in any of three ways", async () => {
    const { add, remove } = await set(3);
    const gaps: { going: Going; way: string; nobodyMs: number; untilReachedMs: number }[] = [];
    for (const going of goings) {
      const leader = await reached();
      replicas = replicas.filter((replica) => replica !== leader);
      gone.push(leader);
      const sinceMs = performance.now();
      if (going === "asked") leader.election.stepDown({ cooldown: "60s" });
      else if (going === "dead") leader.crash();
      else leader.hold();
      const successor = await reached();
      for (const [way, sights] of Object.entries(witness.ways)) {
        gaps.push({ going, way, ...gapAfter(sights, sinceMs, successor.pod) });
      }
      gone = gone.filter((replica) => replica !== leader);
      if (going === "held up") {
        // What it had sent arrives now, and all that it tries on learning where it stands. Then it is a candidate again.
        leader.letGo();
        replicas.push(leader);
        continue;
      }
      if (going === "asked") await leader.leave();
      else await remove(leader);
      await add();
    }
    const last = await reached();
    await eventually(() => last.election.term?.isValid() === true, "the last one still leads");
    print(gaps);
    for (const [way, sights] of Object.entries(witness.ways)) {
      const crowded = sights.filter(({ pods }) => pods.length > 1);
      expect(crowded, `${way} reached two`).toEqual([]);
      expect(sights.filter(({ pods }) => pods.length === 1).length).toBe(goings.length + 1);
    }
  }, 240_000);
});

describe("a leader that is asked to go", () => {
  it("is out of traffic in every way before its lease is released, and its successor holds the lease before it is in", async () => {
    await set(2);
    const rounds = 5;
    for (let round = 0; round < rounds; round++) {
      const leader = await reached();
      leader.election.stepDown({ cooldown: "1ms" });
      await witness.until(() => witness.lease.at(-1)?.pods.join() !== leader.pod, "the lease is let go");
      await witness.until(() => !witness.isReached(leader.pod), "somebody else");
    }
    await reached();
    const releases = witness.lease.filter(({ pods }) => pods.length === 0);
    expect(releases.length).toBeGreaterThanOrEqual(rounds);
    const leaseAt = (revision: bigint) =>
      witness.lease.filter((sight) => sight.revision <= revision).at(-1)?.pods ?? [];
    for (const [way, sights] of Object.entries(witness.ways)) {
      for (const release of releases) {
        const before = sights.filter(({ revision }) => revision < release.revision).at(-1);
        expect(before?.pods, `${way} when the lease was released`).toEqual([]);
      }
      // Whoever is put into traffic holds the lease at that revision of the store.
      for (const { pods, revision } of sights.filter(({ pods: [pod] }) => pod)) {
        expect(leaseAt(revision), `${way} named ${pods}`).toEqual(pods);
      }
    }
  }, 60_000);
});

function print(
  gaps: readonly { going: Going; way: string; nobodyMs: number; untilReachedMs: number }[],
): void {
  const where = connection.target.isSandbox ? "the sandbox" : "a real API server";
  const lines = [`${goings.length} failovers on ${where}, milliseconds p50 / max:`];
  for (const going of ["asked", "dead", "held up"] as const) {
    for (const way of Object.keys(witness.ways)) {
      const some = gaps.filter((gap) => gap.going === going && gap.way === way);
      const figures = (pick: (gap: (typeof gaps)[number]) => number) => {
        const sorted = some.map(pick).sort((a, b) => a - b);
        return `${sorted[sorted.length >> 1]?.toFixed(0)} / ${sorted.at(-1)?.toFixed(0)}`;
      };
      lines.push(
        `  ${going.padEnd(8)} ${way.padEnd(10)} nobody ${figures(({ nobodyMs }) => nobodyMs).padEnd(12)}` +
          ` from the leader's going until the next one is reached ${figures(({ untilReachedMs }) => untilReachedMs)}`,
      );
    }
  }
  console.log(lines.join("\n"));
}
