/** Injects the faults of a stormy history of a set. */
import type { Fault } from "../plan.ts";
import type { Random } from "../random.ts";
import type { Scheduler } from "../scheduler.ts";
import { goodLink, type Participant, type SetPlace } from "./participant.ts";
import type { SetApi } from "./set-api.ts";

export interface SetWorld {
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly place: SetPlace;
  /** undefined unless the history is wide. */
  readonly api: SetApi | undefined;
  readonly members: readonly Participant[];
  /** The members that live and stay. */
  present(): readonly Participant[];
  join(identity?: string): void;
  /** Members that join from now on want another count. */
  changeCount(): void;
  note(line: string): void;
}

/** When the storm is over, and all faults end. */
export const stormMs = 240_000;

export const faultNames = [
  "join",
  "join",
  "leave",
  "crash",
  "crash",
  "freeze",
  "suspend",
  "cut",
  "lossy",
  "slow",
  "silent-watch",
  "break-watch",
  "cut-and-slow",
  "unlabel-lease",
  "unlabel-map",
  "end-work",
  "change-count",
] as const;

/** What only a real client meets. */
export const wideFaultNames = [
  "conflict",
  "throttled",
  "internal",
  "unavailable",
  "denied",
  "proxy",
  "network",
  "cut-answers",
  "duplicate-requests",
  "slow-credentials",
  "watch-gap",
  "rotate-token",
  "server-down",
] as const satisfies readonly Fault["kind"][];

export type FaultName =
  | (typeof faultNames)[number]
  | (typeof wideFaultNames)[number]
  | "delete-map"
  | "delete-lease"
  | "delete-map-and-lease";

export class SetFaults {
  count = 0;
  readonly #world: SetWorld;
  readonly #ends = new Set<() => void>();

  constructor(world: SetWorld) {
    this.#world = world;
  }

  endAll(): void {
    for (const end of this.#ends) end();
    for (const member of this.#world.members) {
      member.disturb(goodLink);
      if (member.isAlive && member.isFrozen) member.thaw(0);
    }
  }

  cause(fault: FaultName): void {
    const { random, scheduler, place } = this.#world;
    const present = this.#world.present();
    this.count += 1;
    if (fault === "join") {
      if (present.length < 5) this.#world.join();
      return;
    }
    if (present.length === 0) return;
    const member = random.pick(present);
    const { identity } = member.options;
    const forMs = random.between(500, 45_000);
    const later = (action: () => void) => scheduler.after(forMs, action);
    const change = (state: Partial<typeof goodLink>) => {
      member.disturb(state);
      later(() => member.disturb(goodLink));
    };
    this.#world.note(`fault: ${fault} ${identity} for ${Math.round(forMs)} ms`);
    switch (fault) {
      case "leave":
        member.leave();
        return;
      case "crash":
        member.crash();
        if (random.chance(0.5)) later(() => this.#world.join(identity));
        return;
      case "freeze":
      case "suspend":
        member.freeze();
        later(() => {
          if (member.isAlive && member.isFrozen) member.thaw(fault === "suspend" ? forMs : 0);
        });
        return;
      case "cut":
        change({ isCut: true });
        return;
      case "lossy":
        change({ loss: random.between(0.1, 0.7) });
        return;
      case "slow":
        change({ slowMs: random.between(500, 15_000) });
        return;
      case "silent-watch":
        change({ isWatchSilent: true });
        return;
      case "break-watch":
        member.breakWatch();
        return;
      case "cut-and-slow":
        change({ slowMs: random.between(5_000, 15_000), isWatchSilent: true });
        return;
      case "delete-map":
        place.delete("map");
        return;
      case "delete-lease":
        place.delete(identity);
        return;
      case "delete-map-and-lease":
        change({ isWatchSilent: true, loss: random.between(0, 0.5) });
        place.delete(identity);
        place.delete("map");
        return;
      case "unlabel-lease":
        place.unlabel(identity);
        return;
      case "unlabel-map":
        place.unlabel("map");
        return;
      case "end-work":
        for (const shard of [...member.works.keys()].slice(0, 1)) member.endWork(shard);
        return;
      case "rotate-token":
        this.#world.api?.http.accounts.rotate();
        return;
      case "server-down":
        this.#stopServer(later);
        return;
      case "change-count":
        this.#world.changeCount();
        // As in a rollout: each replica leaves, and another one begins with the new count.
        for (const old of present) {
          const joinMs = scheduler.nowMs + random.between(0, 20_000);
          const leaveMs = joinMs + random.between(0, 15_000);
          // Once the storm is over, nobody comes or goes.
          scheduler.at(Math.min(joinMs, stormMs), () => this.#world.join());
          scheduler.at(Math.min(leaveMs, stormMs), () => old.isAlive && old.leave());
        }
        return;
      default:
        member.inject?.({ kind: fault, amount: random.next() }, (end) => this.#until(later, end));
    }
  }

  #stopServer(later: (action: () => void) => void): void {
    const { api } = this.#world;
    const setDown = (isDown: boolean) => {
      if (api) api.http.store.isDown = isDown;
      for (const member of this.#world.members) member.disturb({});
    };
    setDown(true);
    this.#until(later, () => setDown(false));
  }

  /** Ends a fault after its time, or at the end of the storm. */
  #until(later: (action: () => void) => void, end: () => void): void {
    this.#ends.add(end);
    later(() => {
      if (this.#ends.delete(end)) end();
    });
  }
}
