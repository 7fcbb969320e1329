/** The only file of this package that asks the machine for time, or warns through it. */
import type { Clock } from "@tenure/election";

export const systemClock: Clock = {
  now: () => ({ monoMs: performance.now(), wallMs: Date.now() }),
  at: (atMs, callback) => {
    const timer = setTimeout(callback, Math.max(0, Math.ceil(atMs - performance.now())));
    return () => clearTimeout(timer);
  },
};

/** For what nobody listens to. */
export function warn(error: Error): void {
  process.emitWarning(error.message, { type: error.name });
}
