/** The faults of one server. Each request looks up its faults once. Open watches are told when a fault affects them. */
import type { Platform } from "../platform.ts";
import {
  type FaultHandle,
  type FaultSpec,
  type Faults,
  type FaultTarget,
  type ListedFault,
  matchesTarget,
  parseFault,
  type StatusEffect,
} from "./fault.ts";

/** An open watch that faults can affect. */
interface FaultyWatch {
  target: FaultTarget;
  stall(): void;
  resume(): void;
  disconnect(): void;
}

interface Entry {
  id: number;
  spec: FaultSpec;
  struck: number;
  stalled: Set<FaultyWatch>;
}

/** The effects of all faults on one request. */
interface RequestFaults {
  latencyMs: number;
  /** What happens instead of the request, if anything. */
  outcome: "hang" | "drop" | StatusEffect | undefined;
  loseAnswer: boolean;
}

export const noFaults: RequestFaults = { latencyMs: 0, outcome: undefined, loseAnswer: false };

export class FaultInjector implements Faults {
  readonly #platform: Platform;
  readonly #entries = new Map<number, Entry>();
  readonly #watches = new Set<FaultyWatch>();
  #lastId = 0;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  add(spec: FaultSpec): FaultHandle {
    const entry: Entry = { id: ++this.#lastId, spec: parseFault(spec), struck: 0, stalled: new Set() };
    this.#entries.set(entry.id, entry);
    for (const watch of [...this.#watches]) this.#affectWatch(entry, watch);
    return { id: entry.id, remove: () => void this.remove(entry.id) };
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

  /** Returns what the faults do to a request. Latencies add up. The first fault with an outcome ends the search. */
  effectsOn(target: FaultTarget): RequestFaults {
    const effects: RequestFaults = { ...noFaults };
    for (const entry of [...this.#entries.values()]) {
      const { effect } = entry.spec;
      if (
        effect === "stall-watch" ||
        effect === "cut-watch" ||
        effects.outcome ||
        !this.#strikes(entry, target)
      )
        continue;
      if (effect === "lose-answer") effects.loseAnswer = true;
      else if (effect === "hang" || effect === "drop") effects.outcome = effect;
      else if ("latencyMs" in effect) effects.latencyMs += effect.latencyMs;
      else effects.outcome = effect;
    }
    return effects;
  }

  /** Registers a watch that has started. Returns a function to call when it ends. */
  watchStarted(watch: FaultyWatch): () => void {
    this.#watches.add(watch);
    for (const entry of [...this.#entries.values()]) this.#affectWatch(entry, watch);
    return () => {
      this.#watches.delete(watch);
      for (const entry of this.#entries.values()) entry.stalled.delete(watch);
    };
  }

  #affectWatch(entry: Entry, watch: FaultyWatch): void {
    const { effect } = entry.spec;
    if ((effect !== "stall-watch" && effect !== "cut-watch") || !this.#entries.has(entry.id)) return;
    // A stall lasts until it is removed, so reaching `times` must not remove it.
    if (effect === "stall-watch") {
      if (
        entry.struck >= (entry.spec.times ?? Number.POSITIVE_INFINITY) ||
        !this.#strikes(entry, watch.target, true)
      )
        return;
      entry.stalled.add(watch);
      watch.stall();
    } else if (this.#strikes(entry, watch.target)) watch.disconnect();
  }

  /**
   * Decides whether a fault affects a target, and counts it. A fault that has struck `times` times is removed unless
   * `stays`.
   */
  #strikes(entry: Entry, target: FaultTarget, stays = false): boolean {
    const { times = Number.POSITIVE_INFINITY, probability = 1 } = entry.spec;
    if (!matchesTarget(entry.spec, target)) return false;
    if (probability < 1 && this.#platform.random() >= probability) return false;
    if (++entry.struck >= times && !stays) this.#entries.delete(entry.id);
    return true;
  }
}
