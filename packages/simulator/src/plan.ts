/** The plan of one simulation: its processes, and which faults happen when. Drawn from a seed. */
import type { LockKind } from "./http/objects.ts";
import { type CredentialKind, credentialKinds } from "./http/pod.ts";
import { Random } from "./random.ts";
import { type StoreKind, storeKinds } from "./stores/store-kinds.ts";

export const faultKinds = [
  "crash",
  "crash-same-identity",
  "freeze",
  "suspend",
  "partition",
  "cut-requests",
  "cut-answers",
  "slow",
  "lose-answers",
  "duplicate-requests",
  "watch-stall",
  "watch-gap",
  "server-down",
  "conflict",
  "throttled",
  "internal",
  "unavailable",
  "one-object-fails",
  "denied",
  "proxy",
  "network",
  "cut",
  "rotate-token",
  "slow-credentials",
  "unreadable",
  "restore",
  "watch-silent",
  "foreign-writer",
  "pause",
  "order-step-down",
  "transfer",
  "transfer-to-nobody",
  "delete",
  "annotate",
  "empty-by-hand",
  "step-down",
  "shutdown",
  "work-ends",
  "thread-dies",
  "set-clock",
  "duplicate-identity",
] as const;

/** "standby-away" is only drawn for a lock in PostgreSQL. */
type FaultKind = (typeof faultKinds)[number] | "standby-away";

/** These do not keep any other candidate from acquiring a free lock at once. */
export const harmlessKinds: readonly FaultKind[] = [
  "foreign-writer",
  "crash",
  "crash-same-identity",
  "shutdown",
  "transfer-to-nobody",
];

export interface Fault {
  readonly kind: FaultKind;
  readonly atMs: number;
  readonly forMs: number;
  /** The process that the fault affects. Some faults affect the lock or the server instead. */
  readonly target: number;
  readonly amount: number;
}

interface PlannedTimings {
  readonly leaseDuration: string;
  readonly renewDeadline: string;
  readonly retryPeriod: string;
}

/**
 * Some histories draw all their faults from one of these groups: a few bugs show only if several faults fit together, which
 * happens in one of thousands of histories otherwise.
 */
const relatedKinds: readonly (readonly FaultKind[])[] = [
  // Candidates that have seen only a part of what happened to the lock when it disappears.
  ["delete", "delete", "empty-by-hand", "partition", "cut-answers", "watch-silent", "shutdown"],
  // Answers that arrive late or never, while other candidates wait for the lease.
  ["slow", "lose-answers", "cut-answers", "partition", "freeze", "server-down"],
];

export interface ProcessPlan {
  readonly kind: "tenure" | "client-go";
  readonly timings: PlannedTimings;
  /** How fast the clocks of the machine run. */
  readonly rate: number;
  readonly wallSkewMs: number;
  readonly startMs: number;
  readonly credentials: CredentialKind;
}

/** The lock object of the election. During a migration it is the one that the election moves away from. */
interface LockPlan {
  readonly kind: LockKind | StoreKind;
  /** Rolling updates from this lock to a Lease. */
  readonly migration?: MigrationPlan | undefined;
  /** Candidates show themselves to operators. */
  readonly isShown?: boolean;
  /** The API server shall choose the leader. "unavailable": it cannot, so the candidates elect one themselves. */
  readonly coordination?: "served" | "unavailable" | undefined;
}

export interface MigrationPlan {
  /** Where the processes start: 0 uses only the old lock, 1 both, 2 only the new one. */
  readonly firstStage: 0 | 1;
  /** When a rolling update to the next stage begins. It begins later if the one before has not ended. */
  readonly rolloutsMs: readonly number[];
  /** The time between two steps of a rolling update. */
  readonly paceMs: number;
}

export interface Plan {
  readonly seed: number;
  /** Run everything that ships, over simulated HTTP. undefined: run only the candidate, which is faster. */
  readonly lock: LockPlan | undefined;
  /** Every tenure candidate runs a child under a supervisor. */
  readonly isSupervised?: boolean;
  readonly waitWhenAbsent: boolean;
  readonly failWhenDenied: boolean;
  readonly processes: readonly ProcessPlan[];
  readonly faults: readonly Fault[];
  /** When all faults end. */
  readonly calmAfterMs: number;
}

const timingChoices: readonly PlannedTimings[] = [
  { leaseDuration: "15s", renewDeadline: "10s", retryPeriod: "2s" },
  { leaseDuration: "10s", renewDeadline: "8s", retryPeriod: "1s" },
  { leaseDuration: "60s", renewDeadline: "45s", retryPeriod: "5s" },
  { leaseDuration: "4s", renewDeadline: "3s", retryPeriod: "500ms" },
  { leaseDuration: "15s", renewDeadline: "2s", retryPeriod: "1s" },
];

/**
 * Which seeds run everything that ships: all, all and with a migration, none, or the fourth part of them. "supervised": none, but
 * every tenure candidate runs a child under a supervisor. "stores": all, and with a lock in etcd or PostgreSQL.
 */
export type Width = "wide" | "migrating" | "stores" | "narrow" | "mixed" | "supervised";

function isWide(seed: number, width: Width): boolean {
  return width === "mixed" ? seed % 4 === 0 : width !== "narrow" && width !== "supervised";
}

export function drawPlan(seed: number, width: Width = "narrow"): Plan {
  const random = new Random(seed);
  const shared = random.pick(timingChoices);
  const related = random.chance(0.15) ? random.pick(relatedKinds) : undefined;
  // During a rolling update of the timings, candidates with different leases share one lock.
  const isMixed = random.chance(related ? 0.7 : 0.3);
  const leaseMs = Number.parseInt(shared.leaseDuration, 10) * 1_000;
  const withClientGo = random.chance(0.25);
  const processes = Array.from({ length: random.integer(2, 5) }, (): ProcessPlan => {
    return {
      kind: withClientGo && random.chance(0.4) ? "client-go" : "tenure",
      timings: isMixed ? random.pick(timingChoices) : shared,
      // The clock rates of any two machines differ by at most 1 %, as G1 assumes.
      rate: 1 + random.between(-0.005, 0.005),
      wallSkewMs: random.chance(0.5) ? random.between(-30_000, 30_000) : 0,
      startMs: random.between(0, leaseMs / 2),
      credentials: random.chance(0.4) ? "service-account" : random.pick(credentialKinds),
    };
  });
  // Without a tenure process there is nothing to check.
  if (!processes.some((process) => process.kind === "tenure")) {
    processes[0] = { ...(processes[0] as ProcessPlan), kind: "tenure" };
  }
  const count = random.integer(2, 14);
  const calmAfterMs = random.between(4, 10) * leaseMs;
  // Whether a free lock is acquired at once can only be checked if nothing keeps the candidates from it.
  const drawnFrom = related ?? (random.chance(0.06) ? harmlessKinds : faultKinds);
  const kinds = Array.from({ length: random.integer(1, 5) }, () => random.pick(drawnFrom));
  const faults = Array.from({ length: count }, (): Fault => {
    return {
      kind: random.pick(kinds),
      atMs: random.between(0, calmAfterMs),
      forMs: random.chance(0.3)
        ? random.between(50, leaseMs / 2)
        : random.between(leaseMs / 4, leaseMs * 2.5),
      target: random.integer(0, processes.length - 1),
      amount: random.next(),
    };
  });
  // A controller that writes into the lock object as long as it exists.
  if (random.chance(0.1)) {
    const atMs = Math.max(...processes.map(({ startMs }) => startMs)) + 1;
    faults.push({ kind: "foreign-writer", atMs, forMs: calmAfterMs, target: 0, amount: 0 });
  }
  const waitWhenAbsent = random.chance(0.3);
  const failWhenDenied = random.chance(0.1);
  const drawn = isWide(seed, width) ? drawLock(random, calmAfterMs, leaseMs, width) : undefined;
  // Drawn from numbers of its own: a history of which nothing changes stays as it was.
  const lock = drawn && { ...drawn, ...drawCandidates(new Random(seed ^ 0x2545f491), drawn, processes) };
  if (lock?.migration) faults.push(...drawMigrationFaults(random, calmAfterMs, leaseMs, processes.length));
  if (lock?.kind === "etcd" && random.chance(0.3))
    faults.push({
      kind: "rotate-token",
      atMs: random.between(0, calmAfterMs),
      forMs: 0,
      target: 0,
      amount: 0,
    });
  if (lock?.kind === "PostgreSQL" && random.chance(0.4))
    faults.push(...drawStandbyFaults(random, calmAfterMs, leaseMs, processes.length));
  faults.sort((a, b) => a.atMs - b.atMs);
  if (lock?.coordination === "served")
    return { seed, lock, waitWhenAbsent, failWhenDenied, ...coordinated({ processes, faults }), calmAfterMs };
  const isSupervised = width === "supervised";
  return { seed, lock, isSupervised, waitWhenAbsent, failWhenDenied, processes, faults, calmAfterMs };
}

function drawLock(random: Random, calmAfterMs: number, leaseMs: number, width: Width): LockPlan {
  if (width === "stores" || (width !== "migrating" && random.chance(0.25)))
    return { kind: random.pick(storeKinds) };
  if (random.chance(0.65) && width !== "migrating")
    return { kind: random.pick(["Lease", "Lease", "ConfigMap", "Endpoints"]) };
  const firstStage = random.pick([0, 1] as const);
  const rollouts = random.integer(1, 2 - firstStage);
  const rolloutsMs = Array.from({ length: rollouts }, () => random.between(0, calmAfterMs * 0.7)).sort(
    (a, b) => a - b,
  );
  const paceMs = random.chance(0.5) ? 700 : random.between(700, leaseMs);
  return { kind: random.pick(["ConfigMap", "Endpoints"]), migration: { firstStage, rolloutsMs, paceMs } };
}

/** What candidates of a lock in Kubernetes write beside it. */
function drawCandidates(
  random: Random,
  { kind, migration }: LockPlan,
  processes: readonly ProcessPlan[],
): Pick<LockPlan, "isShown" | "coordination"> {
  if (kind === "etcd" || kind === "PostgreSQL") return {};
  const isShown = random.chance(0.4);
  const mayBeCoordinated = kind === "Lease" && !migration && processes.every((one) => one.kind === "tenure");
  if (!mayBeCoordinated || random.chance(0.6)) return { isShown };
  return { isShown, coordination: random.chance(0.8) ? "served" : "unavailable" };
}

/** The API server that chooses the leader compares clocks, so all of them are right. */
function coordinated({ processes, faults }: Pick<Plan, "processes" | "faults">) {
  return {
    processes: processes.map((process) => ({ ...process, wallSkewMs: 0 })),
    faults: faults.filter(({ kind }) => kind !== "set-clock"),
  };
}

/** Faults that separate the two objects of a migration. */
function drawMigrationFaults(
  random: Random,
  calmAfterMs: number,
  leaseMs: number,
  processes: number,
): Fault[] {
  return Array.from({ length: random.integer(0, 3) }, () => ({
    kind: random.pick(["delete", "one-object-fails", "crash", "lose-answers"] as const),
    atMs: random.between(0, calmAfterMs),
    forMs: random.between(leaseMs / 4, leaseMs * 2),
    target: random.integer(0, processes - 1),
    amount: random.next(),
  }));
}

/**
 * The standby is away, and then comes back or takes over. Meanwhile some candidate may be cut off from the primary: it does not
 * see the commits that a failover undoes.
 */
function drawStandbyFaults(random: Random, calmAfterMs: number, leaseMs: number, processes: number): Fault[] {
  const atMs = random.between(leaseMs / 2, calmAfterMs);
  const forMs = random.between(leaseMs / 4, leaseMs * 2);
  const faults: Fault[] = [{ kind: "standby-away", atMs, forMs, target: 0, amount: random.next() }];
  if (random.chance(0.7)) {
    const target = random.integer(0, processes - 1);
    faults.push({ kind: "partition", atMs: atMs - 500, forMs: forMs + 500, target, amount: 0 });
  }
  return faults;
}
