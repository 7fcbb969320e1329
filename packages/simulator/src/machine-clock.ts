import type { Clock } from "@tenure/base";
import type { Scheduler } from "./scheduler.ts";

/** Half of the tolerance that G1 allows between two machines, so that any two differ by at most 1 %. */
export const mostDrift = 0.005;

/** A timer is late rather than early by what the division may have lost. */
const roundingMs = 1e-4;

/** The clocks of one machine: they drift, the monotonic one stands still while suspended, the other one is set at will. */
export class MachineClock implements Clock {
  readonly #scheduler: Scheduler;
  readonly #rate: number;
  readonly #bootMs: number;
  readonly #defer: (callback: () => void) => void;
  #wallSkewMs: number;
  #suspendedMs = 0;

  /** `defer` runs a callback in the machine's process, or later if that is frozen, or never if it is dead. */
  constructor(
    scheduler: Scheduler,
    options: { rate: number; bootMs: number; wallSkewMs: number },
    defer: (callback: () => void) => void,
  ) {
    this.#scheduler = scheduler;
    this.#rate = options.rate;
    this.#bootMs = options.bootMs;
    this.#wallSkewMs = options.wallSkewMs;
    this.#defer = defer;
  }

  now(): { monoMs: number; wallMs: number } {
    const { nowMs } = this.#scheduler;
    return {
      monoMs: this.#bootMs + (nowMs - this.#suspendedMs) * this.#rate,
      wallMs: 1_700_000_000_000 + nowMs * this.#rate + this.#wallSkewMs,
    };
  }

  at(monoMs: number, callback: () => void): () => void {
    let cancel: () => void = () => {};
    let cancelled = false;
    const arm = () => {
      const trueMs = (monoMs - this.#bootMs) / this.#rate + this.#suspendedMs + roundingMs;
      cancel = this.#scheduler.at(trueMs, () =>
        this.#defer(() => {
          if (cancelled) return;
          // A suspension since then has put the moment off.
          if (this.now().monoMs < monoMs) arm();
          else callback();
        }),
      );
    };
    arm();
    return () => {
      cancelled = true;
      cancel();
    };
  }

  setWall(byMs: number): void {
    this.#wallSkewMs += byMs;
  }

  /** The machine was suspended for so long until now. */
  wasSuspended(forMs: number): void {
    this.#suspendedMs += forMs;
  }
}
