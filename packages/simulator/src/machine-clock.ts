import type { Clock, Instant } from "@tenure/base";
import type { Scheduler } from "./scheduler.ts";

/** The wall clock of the server, and of a machine whose clock is right and does not drift. */
export function serverMs(trueMs: number): number {
  return 1_700_000_000_000 + trueMs;
}

/** Added to each timer, so that a rounding error makes it late and never early. */
const roundingMs = 1e-4;

/** The clocks of one machine. Both drift. The monotonic clock stops during a suspension, and the wall clock can be set. */
export class MachineClock implements Clock {
  readonly #scheduler: Scheduler;
  readonly #rate: number;
  readonly #bootMs: number;
  readonly #defer: (callback: () => void) => void;
  #wallSkewMs: number;
  #suspendedMs = 0;
  #isSetBackUnseen = false;

  /** @param defer runs a callback in the machine's process, see `Machine.defer` */
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

  /** Whether nobody has looked at the clock since it was set back. */
  get isSetBackUnseen(): boolean {
    return this.#isSetBackUnseen;
  }

  now(): Instant {
    const { nowMs } = this.#scheduler;
    this.#isSetBackUnseen = false;
    return {
      monoMs: this.#bootMs + (nowMs - this.#suspendedMs) * this.#rate,
      wallMs: serverMs(nowMs * this.#rate) + this.#wallSkewMs,
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
          // A suspension since then has delayed the timer.
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
    if (byMs < 0) this.#isSetBackUnseen = true;
  }

  /** The machine was suspended for this long, until now. */
  wasSuspended(forMs: number): void {
    this.#suspendedMs += forMs;
  }
}
