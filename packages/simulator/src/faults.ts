/** Injects the faults of a plan. Each ends after its time, or when all faults end. */
import { orderAnnotations } from "@tenure/election/internal";
import type { Checker } from "./checker.ts";
import { injectIntoLink } from "./link-faults.ts";
import type { AssumedLease, LockChecker } from "./lock-checker.ts";
import { type Fault, harmlessKinds } from "./plan.ts";
import type { CandidateProcess } from "./process.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Server, Store } from "./server.ts";
import type { PostgresServer } from "./stores/postgres-server.ts";

/** What faults affect. */
export interface World {
  readonly scheduler: Scheduler;
  readonly store: Store;
  /** The lock objects: one, or two in a migration. */
  readonly objects: readonly { readonly server: Server; readonly checker: LockChecker }[];
  readonly checker: Checker;
  /** The server of a lock in PostgreSQL. */
  readonly postgres: PostgresServer | undefined;
  readonly slots: readonly (CandidateProcess | undefined)[];
  note(text: string): void;
  restartIfDead(slot: number, identity: string): void;
  newIdentity(slot: number): string;
  startDuplicate(slot: number, identity: string): CandidateProcess;
  processes(): CandidateProcess[];
  /** The API server no longer accepts the tokens and certificates that it accepted so far. */
  rotateCredentials(): void;
}

const harmless: ReadonlySet<string> = new Set(harmlessKinds);
/** How often a foreign controller writes its annotation. */
const foreignWriteMs = 1_700;

export class Faults {
  readonly #world: World;
  readonly #active = new Set<() => void>();
  /** Those of the active faults during which a free lock need not be acquired at once. */
  readonly #hindering = new Set<() => void>();
  #foreignWrites = 0;
  #hasRestored = false;

  constructor(world: World) {
    this.#world = world;
  }

  endAll(): void {
    const { objects } = this.#world;
    const hinders = this.#hindering.size > 0 || objects.some(({ server }) => server.lock?.orders);
    for (const end of this.#active) end();
    for (const { server } of this.#world.objects) {
      // A restore may have brought this back.
      server.setUnreadable(false);
      // A leader that wins again keeps its transitions, and so an order for its last term applies to the next one too.
      for (const name of Object.values(orderAnnotations)) server.annotate({ [name]: undefined });
    }
    if (hinders) this.#changed();
  }

  #changed(): void {
    this.#world.checker.faultChanged(this.#hindering.size);
  }

  inject(fault: Fault): void {
    const process = this.#world.slots[fault.target];
    if (!process) return;
    this.#world.note(`fault ${fault.kind} on ${process.id} for ${Math.round(fault.forMs)} ms`);
    if (!harmless.has(fault.kind)) this.#changed();
    const until = (end: () => void) => {
      const endNow = () => {
        if (!this.#active.delete(endNow)) return;
        this.#world.note(`end of fault ${fault.kind} on ${process.id}`);
        if (this.#hindering.delete(endNow)) this.#changed();
        end();
        process.machine.link.changed();
      };
      this.#active.add(endNow);
      if (!harmless.has(fault.kind)) {
        this.#hindering.add(endNow);
        this.#changed();
      }
      this.#world.scheduler.after(fault.forMs, endNow);
    };
    if (this.#injectIntoProcess(fault, process, until) || this.#injectIntoServer(fault, process, until))
      return;
    if (fault.kind === "watch-silent") this.#world.checker.hasSilentWatch(process.id);
    injectIntoLink(fault, process.machine.link, until);
    process.machine.link.changed();
  }

  #injectIntoProcess(fault: Fault, process: CandidateProcess, until: (end: () => void) => void): boolean {
    const world = this.#world;
    const { target } = fault;
    switch (fault.kind) {
      case "crash":
      case "crash-same-identity": {
        process.crash();
        const identity = fault.kind === "crash" ? world.newIdentity(target) : identityOf(process);
        until(() => world.restartIfDead(target, identity));
        return true;
      }
      case "freeze":
        process.freeze();
        until(() => process.thaw());
        return true;
      case "suspend": {
        // A frozen or dead machine cannot be suspended.
        if (!process.machine.isRunning) return true;
        // Nor does the simulation suspend it before it has noticed that its clock was set back: no clock would show the suspension.
        if (process.machine.clock.isSetBackUnseen) return true;
        const sinceMs = world.scheduler.nowMs;
        process.freeze();
        until(() => {
          process.machine.clock.wasSuspended(world.scheduler.nowMs - sinceMs);
          process.thaw();
        });
        return true;
      }
      case "step-down":
        process.stepDown();
        return true;
      case "work-ends":
        process.endWork();
        return true;
      case "thread-dies":
        process.killThread?.();
        return true;
      case "shutdown":
        process.shutdown();
        until(() => world.restartIfDead(target, identityOf(process)));
        return true;
      case "set-clock":
        // If the wall clock were set back during a suspension, no clock would show the suspension. Only fencing helps then.
        if (process.machine.isRunning) process.machine.clock.setWall((fault.amount - 0.5) * 120_000);
        return true;
      case "duplicate-identity": {
        const duplicate = world.startDuplicate(target, identityOf(process));
        until(() => duplicate.crash());
        return true;
      }
      default:
        return false;
    }
  }

  #injectIntoServer(fault: Fault, process: CandidateProcess, until: (end: () => void) => void): boolean {
    const { store } = this.#world;
    const objects = this.#targets(fault.amount);
    switch (fault.kind) {
      case "server-down":
        store.isDown = true;
        this.#linksChanged();
        until(() => {
          store.isDown = false;
          this.#linksChanged();
        });
        return true;
      case "delete":
        if (this.#isStandbyAway()) return true;
        for (const { server, checker } of objects) {
          if (server.lock) checker.vanished(server.lock, this.#assumedAfterDeletion(server.lock.uid));
          server.delete();
        }
        return true;
      case "restore":
        this.#restoreAtEnd(until);
        return true;
      case "standby-away":
        this.#loseStandby(fault.amount, until);
        return true;
      case "rotate-token":
        this.#world.rotateCredentials();
        return true;
      case "empty-by-hand":
        if (this.#isStandbyAway()) return true;
        for (const { server, checker } of objects) {
          if (server.lock) checker.vanished(server.lock);
          server.emptyByHand();
        }
        return true;
      case "unreadable":
        for (const { server } of objects) server.setUnreadable(true);
        until(() => {
          for (const { server } of objects) server.setUnreadable(false);
        });
        return true;
      case "annotate":
        this.#writeAsForeigner();
        return true;
      case "foreign-writer": {
        let hasEnded = false;
        const write = () => {
          if (hasEnded) return;
          this.#writeAsForeigner();
          this.#world.scheduler.after(foreignWriteMs, write);
        };
        write();
        until(() => {
          hasEnded = true;
        });
        return true;
      }
      default:
        return this.#injectOrder(fault, process, until);
    }
  }

  #injectOrder(fault: Fault, process: CandidateProcess, until: (end: () => void) => void): boolean {
    const objects = this.#targets(fault.amount);
    const annotate = (
      name: keyof typeof orderAnnotations,
      valueFor: (transitions: number) => string | undefined,
    ) => {
      for (const { server } of objects) {
        // An order names a term by its transitions, which may differ between the two objects of a migration.
        const transitions = server.lock?.record.leaseTransitions ?? 0;
        server.annotate({ [orderAnnotations[name]]: valueFor(transitions) });
      }
    };
    switch (fault.kind) {
      case "pause":
        annotate("paused", () => "true");
        until(() => annotate("paused", () => undefined));
        return true;
      case "order-step-down":
        annotate("stepDown", String);
        return true;
      case "transfer":
        annotate("transfer", (transitions) => `${transitions}/${identityOf(process)}`);
        return true;
      case "transfer-to-nobody":
        annotate("transfer", (transitions) => `${transitions}/nobody`);
        return true;
      default:
        return false;
    }
  }

  /** The lock objects that a fault affects: in a migration one of them, or both. */
  #targets(amount: number): World["objects"] {
    const { objects } = this.#world;
    if (objects.length === 1 || amount > 0.7) return objects;
    return objects.filter((_, index) => index === (amount < 0.35 ? 0 : 1));
  }

  /** Then the statement of a person waits as well, and has no effect. */
  #isStandbyAway(): boolean {
    return this.#world.postgres?.isStandbyAway ?? false;
  }

  /** The synchronous standby of PostgreSQL is away, and comes back or takes over. */
  #loseStandby(amount: number, until: (end: () => void) => void): void {
    const { postgres } = this.#world;
    postgres?.standbyLeaves();
    until(() => {
      if (amount < 0.7) postgres?.failOver();
      else postgres?.standbyReturns();
    });
  }

  #restoreAtEnd(until: (end: () => void) => void): void {
    const { store, objects, checker } = this.#world;
    const backup = store.backup();
    until(() => {
      // One restore in a history: after a second one, a process that was cut off may have nothing left to notice it by.
      if (store.revision === backup.revision || this.#hasRestored || this.#isStandbyAway()) return;
      this.#hasRestored = true;
      const assumed = this.#assumedAfterRestore(backup.revision);
      for (const [index, { server, checker: lockChecker }] of objects.entries()) {
        const isChanged = server.lock && server.lock.version !== backup.locks[index]?.version;
        if (server.lock && isChanged) lockChecker.vanished(server.lock, assumed);
      }
      checker.restored();
      store.restore(backup);
    });
  }

  #writeAsForeigner(): void {
    this.#foreignWrites += 1;
    const count = String(this.#foreignWrites);
    for (const { server } of this.#world.objects)
      server.annotate({ "example.com/written": count, "label:example.com/team": count });
  }

  /** A process that has seen the lock can notice its deletion. */
  #assumedAfterDeletion(uid: string): AssumedLease {
    return this.#assumedBy(this.#world.processes().filter((process) => process.knows(uid)));
  }

  /** A process that has seen something that the backup does not contain can notice that it is gone, unless it looks too late. */
  #assumedAfterRestore(revision: bigint): AssumedLease {
    const knowing = this.#world.processes().filter((process) => process.highestRevision > revision);
    for (const { witness, highestRevision } of knowing) witness?.storeRestored(highestRevision);
    const assumed = this.#assumedBy(knowing);
    return (id) =>
      knowing.find((process) => process.id === id)?.witness?.canNoticeRestore ? assumed(id) : 0;
  }

  #assumedBy(knowing: readonly CandidateProcess[]): AssumedLease {
    const leases = new Map(knowing.map(({ id, longestLeaseMs }) => [id, longestLeaseMs]));
    return (id) => leases.get(id) ?? 0;
  }

  #linksChanged(): void {
    for (const { machine } of this.#world.processes()) machine.link.changed();
  }
}

function identityOf(process: CandidateProcess): string {
  return process.id.slice(0, process.id.indexOf("#"));
}
