/** Runs one plan: starts the machines, injects the faults, ends them all, and collects the violations. */
import { nextTurn } from "@tenure/base";
import { type Config, resolveTimings, type Timings } from "@tenure/core";
import { candidateLabel, candidateLeasePrefix } from "@tenure/election/internal";
import { Checker } from "./checker.ts";
import { ClientGoProcess } from "./client-go-process.ts";
import { ElectionProcess } from "./election-process.ts";
import { Faults, type World } from "./faults.ts";
import { Accounts } from "./http/accounts.ts";
import { HttpApi } from "./http/api.ts";
import { type ApiObject, Collection } from "./http/collection.ts";
import { Coordinator } from "./http/coordinator.ts";
import { kubeLock } from "./http/kube-lock.ts";
import { ObjectApi } from "./http/object-api.ts";
import { type LockKind, leaseCandidates, lockName, placeOf } from "./http/objects.ts";
import { Link } from "./link.ts";
import { Machine } from "./machine.ts";
import { serverMs } from "./machine-clock.ts";
import type { Plan, ProcessPlan } from "./plan.ts";
import type { CandidateProcess } from "./process.ts";
import { Random } from "./random.ts";
import { Rollout, type Stage } from "./rollout.ts";
import { Scheduler } from "./scheduler.ts";
import { Server, Store, type StoredLock } from "./server.ts";
import { SimulatedStore } from "./stores/simulated-store.ts";
import { isStoreKind } from "./stores/store-kinds.ts";
import { SupervisedProcess } from "./supervisor/supervised-process.ts";
import { TenureProcess } from "./tenure-process.ts";
import { type Trace, TracedChecker } from "./trace/trace.ts";
import type { Violation } from "./violation.ts";

export interface Outcome {
  readonly violations: readonly Violation[];
  readonly simulatedMs: number;
  readonly terms: { readonly tenure: number; readonly clientGo: number };
  /** How often two processes worked at once in a way that only a client-go candidate can cause. */
  readonly clientGoOverlaps: number;
  readonly log: readonly string[];
}

/** @param trace records the steps, of a plan without `lock` */
export function simulate(plan: Plan, trace?: Trace): Promise<Outcome> {
  return new Simulation(plan, trace).run();
}

class Simulation implements World {
  readonly #plan: Plan;
  readonly #random: Random;
  readonly #ways: Random;
  readonly #timings: readonly Timings[];
  readonly #longestLeaseMs: number;
  readonly scheduler = new Scheduler();
  readonly checker: Checker;
  readonly store = new Store();
  readonly objects: World["objects"];
  readonly slots: (CandidateProcess | undefined)[];
  readonly #duplicates: CandidateProcess[] = [];
  readonly #faults = new Faults(this);
  readonly #log: string[] = [];
  readonly #api: HttpApi | undefined;
  readonly #lockStore: SimulatedStore | undefined;
  readonly #trace: Trace | undefined;
  readonly #rollout: Rollout | undefined;
  readonly #stages = new Map<CandidateProcess, Stage>();
  #starts = 0;

  constructor(plan: Plan, trace?: Trace) {
    this.#plan = plan;
    this.#trace = trace;
    this.#random = new Random(plan.seed ^ 0x5bd1e995);
    this.#ways = new Random(plan.seed ^ 0x1b873593);
    this.#timings = plan.processes.map(({ timings }) => resolveTimings(timings));
    this.#longestLeaseMs = Math.max(...this.#timings.map(({ leaseDurationMs }) => leaseDurationMs));
    const now = () => this.scheduler.nowMs;
    this.checker = trace
      ? new TracedChecker(trace, now, this.#longestLeaseMs)
      : new Checker(now, this.#longestLeaseMs);
    const kinds = lockKindsOf(plan);
    this.objects = kinds.map((_, index) => this.#newObject(now, index));
    const [only] = this.objects;
    if (only) trace?.attach(now, only.server);
    if (plan.lock && isStoreKind(plan.lock.kind)) {
      const { server } = this.objects[0] as World["objects"][number];
      this.#lockStore = new SimulatedStore(plan.lock.kind, server, this.#random);
    } else if (plan.lock) {
      const apis = this.objects.map(({ server }, index) => new ObjectApi(server, kinds[index] as LockKind));
      this.#api = this.#newApi(apis);
    }
    this.slots = plan.processes.map(() => undefined);
    if (plan.lock?.migration) {
      this.#rollout = new Rollout(plan.lock.migration, {
        scheduler: this.scheduler,
        slotCount: this.slots.length,
        livingStages: () => this.#livingStages(),
        isDead: (slot) => this.slots[slot]?.machine.isDead ?? false,
        shutdown: (slot) => this.slots[slot]?.shutdown(),
        restart: (slot) => this.restartIfDead(slot, this.newIdentity(slot)),
      });
    }
  }

  #newObject(now: () => number, index: number): World["objects"][number] {
    // In a migration, a transfer in the new lock counts instead of one in the old lock.
    const checker = this.checker.newLock(
      () => index === 0 && this.objects[1]?.server.lock?.orders?.transfer !== undefined,
    );
    const server = new Server(this.store, now, {
      committed: (before, after) => {
        this.#note(before, after);
        checker.committed(before, after);
      },
      versionReused: () => checker.versionReused(),
    });
    return { server, checker };
  }

  #newApi(objects: readonly ObjectApi[]): HttpApi {
    const { store, scheduler } = this;
    const { coordination, isShown } = this.#plan.lock ?? {};
    const now = () => serverMs(scheduler.nowMs);
    const leases = new Collection(placeOf("Lease"), store, now);
    if (isShown) leases.put(forgottenCandidate(now()));
    const collections = [leases];
    if (coordination === "served") {
      const candidates = new Collection(leaseCandidates, store, now);
      collections.push(candidates);
      const { server } = this.objects[0] as World["objects"][number];
      new Coordinator({ server, candidates, scheduler, random: this.#random.fork() });
    }
    return new HttpApi({ store, accounts: new Accounts(), objects, collections });
  }

  async run(): Promise<Outcome> {
    const { processes, faults, calmAfterMs } = this.#plan;
    processes.forEach((process, slot) => {
      this.scheduler.at(process.startMs, () => this.#start(slot, `p${slot}`));
    });
    for (const fault of faults) this.scheduler.at(fault.atMs, () => this.#faults.inject(fault));
    this.scheduler.at(calmAfterMs, () => this.#endFaults());
    // Time for the lease of a frozen leader, a vanished holder, an absent lock, and the longest drain.
    const endMs = calmAfterMs + 3 * this.#longestLeaseMs + 60_000;
    await this.scheduler.run(endMs, this.#settle());
    this.checker.finished(this.processes().some((process) => process.isLeading));
    for (const violation of this.checker.violations)
      this.note(`VIOLATION ${violation.rule} (${violation.check}): ${violation.message}`, violation.atMs);
    return {
      violations: this.checker.violations,
      simulatedMs: endMs,
      terms: this.checker.terms,
      clientGoOverlaps: this.checker.clientGoOverlaps,
      log: this.#log,
    };
  }

  /** The candidate of a tenure process awaits in few places after an action. Everything else awaits in many. */
  #settle(): () => Promise<void> {
    const hasClientGo = this.#plan.processes.some((process) => process.kind === "client-go");
    return hasClientGo || this.#plan.lock ? nextTurn : fewPromises;
  }

  #start(slot: number, identity: string): CandidateProcess {
    const plan = this.#plan.processes[slot] as ProcessPlan;
    const id = `${identity}#${this.#starts++}`;
    const { server } = this.objects[0] as World["objects"][number];
    const random = this.#random.fork();
    const connect = ({ defer }: Machine) => new Link(this.scheduler, server, random, defer);
    const machine = new Machine(this.scheduler, plan, random, connect);
    const timings = this.#timings[slot] as Timings;
    const stage = this.#rollout?.stageOf(slot) ?? 0;
    // A rolling update that begins a migration can also replace client-go by tenure.
    const process =
      plan.kind === "client-go" && stage === 0 && !this.#lockStore
        ? this.#newClientGoProcess(id, identity, timings, machine, slot)
        : this.#plan.lock
          ? this.#newElectionProcess(id, identity, machine, slot, stage)
          : this.#newTenureProcess(id, identity, timings, machine);
    this.slots[slot] = process;
    this.#stages.set(process, stage);
    const using = this.#rollout && ` with ${["the old lock", "both locks", "the new lock"][stage]}`;
    this.note(`${id} starts${using ?? ""}`);
    process.start();
    return process;
  }

  #newElectionProcess(
    id: string,
    identity: string,
    machine: Machine,
    slot: number,
    stage: Stage,
  ): ElectionProcess {
    const { timings, credentials } = this.#plan.processes[slot] as ProcessPlan;
    const { waitWhenAbsent, failWhenDenied } = this.#plan;
    const objects = stage === 1 ? [0, 1] : [stage / 2];
    const { scheduler } = this;
    const newLock = () =>
      this.#lockStore
        ? this.#lockStore.newLock({ ...clientOf(machine), scheduler, writer: id })
        : kubeLock({ id, machine, scheduler, api: this.#api as HttpApi, credentials, objects });
    return new ElectionProcess(
      { ...timings, identity, waitWhenAbsent, failWhenDenied },
      {
        id,
        machine,
        scheduler,
        checker: this.checker,
        newLock,
        canUseThread: this.#lockStore === undefined,
        objects,
        ways: this.#ways.fork(),
        isShown: this.#plan.lock?.isShown ?? false,
        isCoordinated: this.#plan.lock?.coordination !== undefined,
        asksPlugin: this.#lockStore === undefined && credentials.startsWith("exec"),
        onExit: () => this.scheduler.after(3_000, () => this.restartIfDead(slot, identity)),
      },
    );
  }

  #livingStages(): Stage[] {
    return [...this.#stages].filter(([process]) => !process.machine.isDead).map(([, stage]) => stage);
  }

  #newTenureProcess(id: string, identity: string, timings: Timings, machine: Machine): CandidateProcess {
    const { waitWhenAbsent, failWhenDenied } = this.#plan;
    const config: Config = {
      identity,
      timings,
      waitWhenAbsent,
      failWhenDenied,
      cooldownMs: timings.retryPeriodMs,
      // Shorter than the longest time that simulated work takes to stop.
      drainTimeoutMs: 15_000,
    };
    const parts = { id, machine, scheduler: this.scheduler, checker: this.checker };
    const { isSupervised, calmAfterMs } = this.#plan;
    if (isSupervised) return new SupervisedProcess(config, { ...parts, calmAfterMs });
    return new TenureProcess(config, parts, this.#trace);
  }

  #newClientGoProcess(
    id: string,
    identity: string,
    timings: Timings,
    machine: Machine,
    slot: number,
  ): ClientGoProcess {
    const restart = () => this.scheduler.after(3_000, () => this.restartIfDead(slot, this.newIdentity(slot)));
    return new ClientGoProcess(id, identity, timings, machine, this.checker, restart);
  }

  restartIfDead(slot: number, identity: string): void {
    if (this.slots[slot]?.machine.isDead) this.#start(slot, identity);
  }

  newIdentity(slot: number): string {
    return `p${slot}-${this.#starts}`;
  }

  startDuplicate(slot: number, identity: string): CandidateProcess {
    const original = this.slots[slot];
    const duplicate = this.#start(slot, identity);
    this.slots[slot] = original;
    this.#duplicates.push(duplicate);
    return duplicate;
  }

  rotateCredentials(): void {
    this.#api?.accounts.rotate();
    this.#lockStore?.rotateCredentials();
  }

  get postgres(): World["postgres"] {
    return this.#lockStore?.postgres;
  }

  processes(): CandidateProcess[] {
    return [...this.slots, ...this.#duplicates].filter((process) => process !== undefined);
  }

  /** Ends all faults and restarts all dead processes. */
  #endFaults(): void {
    this.note("all faults end");
    this.#rollout?.end();
    this.#faults.endAll();
    this.slots.forEach((_, slot) => {
      this.restartIfDead(slot, this.newIdentity(slot));
    });
  }

  #note(before: StoredLock | undefined, after: StoredLock): void {
    const isRenewal =
      before?.writer === after.writer && before?.record.holderIdentity === after.record.holderIdentity;
    if (!isRenewal)
      this.note(
        `lock ${after.version}: held by ${after.record.holderIdentity || "nobody"}, written by ${after.writer ?? "a person"}`,
      );
  }

  note(text: string, atMs = this.scheduler.nowMs): void {
    this.#log.push(`${(atMs / 1_000).toFixed(3).padStart(9)}s  ${text}`);
  }
}

/** The kinds of the lock objects, in the order of a migration. */
function lockKindsOf({ lock }: Plan): LockKind[] {
  // A store other than Kubernetes has one lock, whatever it is called.
  if (!lock || isStoreKind(lock.kind)) return ["Lease"];
  return lock.migration ? [lock.kind, "Lease"] : [lock.kind];
}

/** What a candidate that crashed two hours ago left behind. The leader removes it. */
function forgottenCandidate(nowMs: number): ApiObject {
  const labels = { [candidateLabel]: lockName };
  const renewTime = new Date(nowMs - 2 * 3_600_000).toISOString();
  return { metadata: { name: `${candidateLeasePrefix(lockName)}gone`, labels }, spec: { renewTime } };
}

function clientOf({ link, random, clock, defer }: Machine) {
  return { link, random, clock, defer };
}

/** Lets an answer pass from the link through the witness of the lock to the candidate. */
async function fewPromises(): Promise<void> {
  for (let turns = 0; turns < 5; turns++) await undefined;
}
