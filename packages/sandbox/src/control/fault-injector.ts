/**
 * The faults that are set on one server. Each request asks once what befalls it; watches are told while they run.
 */
import type { Platform } from "../platform.ts";
import { type FaultSpec, type FaultTarget, matchesTarget, parseFault } from "./fault.ts";

export interface FaultHandle {
  /** Removes the fault. Removing it twice does nothing. */
  remove(): void;
}

/** A fault as it is listed. */
export type ListedFault = FaultSpec & { id: number; struck: number };

/** An open watch, as far as faults reach it. */
export interface FaultyWatch {
  target: FaultTarget;
  stall(): void;
  resume(): void;
  cut(): void;
}

interface Entry {
  id: number;
  spec: FaultSpec;
  struck: number;
  stalled: Set<FaultyWatch>;
}

/** What happens to a request before it is worked on, and to its answer. */
export interface Strike {
  latencyMs: number;
  outcome: "hang" | "drop" | { status: 409 | 429 | 500 | 503; retryAfterSeconds?: number } | undefined;
  loseAnswer: boolean;
}

export const noStrike: Strike = { latencyMs: 0, outcome: undefined, loseAnswer: false };

export class Faults {
  readonly #platform: Platform;
  readonly #entries = new Map<number, Entry>();
  readonly #watches = new Set<FaultyWatch>();
  #lastId = 0;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** Sets a fault; it works until it is removed, cleared, or has struck `times` times. */
  add(spec: FaultSpec): FaultHandle & { id: number } {
    const entry: Entry = { id: ++this.#lastId, spec: parseFault(spec), struck: 0, stalled: new Set() };
    this.#entries.set(entry.id, entry);
    for (const watch of [...this.#watches]) this.#strikeWatch(entry, watch);
    return { id: entry.id, remove: () => this.remove(entry.id) };
  }

  list(): ListedFault[] {
    return [...this.#entries.values()].map(({ id, spec, struck }) => ({ id, ...spec, struck }));
  }

  remove(id: number): boolean {
    const entry = this.#entries.get(id);
    if (!entry) return false;
    this.#entries.delete(id);
    for (const watch of entry.stalled) {
      if (![...this.#entries.values()].some((other) => other.stalled.has(watch))) watch.resume();
    }
    return true;
  }

  clear(): void {
    for (const id of [...this.#entries.keys()]) this.remove(id);
  }

  /** What befalls this request. Latencies add up; the first fault that ends it counts. */
  strike(target: FaultTarget): Strike {
    const strike: Strike = { ...noStrike };
    for (const entry of [...this.#entries.values()]) {
      const { effect } = entry.spec;
      if (effect === "stall-watch" || effect === "cut-watch" || strike.outcome || !this.#hits(entry, target))
        continue;
      if (effect === "lose-answer") strike.loseAnswer = true;
      else if (effect === "hang" || effect === "drop") strike.outcome = effect;
      else if ("latencyMs" in effect) strike.latencyMs += effect.latencyMs;
      else strike.outcome = effect;
    }
    return strike;
  }

  /** A watch began; returns what to call when it ends. */
  watchStarted(watch: FaultyWatch): () => void {
    this.#watches.add(watch);
    for (const entry of [...this.#entries.values()]) this.#strikeWatch(entry, watch);
    return () => {
      this.#watches.delete(watch);
      for (const entry of this.#entries.values()) entry.stalled.delete(watch);
    };
  }

  #strikeWatch(entry: Entry, watch: FaultyWatch): void {
    const { effect } = entry.spec;
    if ((effect !== "stall-watch" && effect !== "cut-watch") || !this.#entries.has(entry.id)) return;
    // A stall lasts until it is removed, so it may not remove itself by having struck often enough.
    if (effect === "stall-watch") {
      if (
        entry.struck >= (entry.spec.times ?? Number.POSITIVE_INFINITY) ||
        !this.#hits(entry, watch.target, true)
      )
        return;
      entry.stalled.add(watch);
      watch.stall();
    } else if (this.#hits(entry, watch.target)) watch.cut();
  }

  #hits(entry: Entry, target: FaultTarget, stays = false): boolean {
    const { times = Number.POSITIVE_INFINITY, probability = 1 } = entry.spec;
    if (!matchesTarget(entry.spec, target)) return false;
    if (probability < 1 && this.#platform.random() >= probability) return false;
    if (++entry.struck >= times && !stays) this.#entries.delete(entry.id);
    return true;
  }
}
