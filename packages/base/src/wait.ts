/** Waiting by a clock that is passed in. No listener and no timer outlives the wait. */
import type { Clock } from "./clock.ts";
import { onAbort } from "./on-abort.ts";

/** What to wait for, by name: a promise, the abort of a signal, or a number of milliseconds. */
export type Waits<Name extends string> = Readonly<
  Record<Name, Promise<unknown> | AbortSignal | number | undefined>
>;

/** Calls back once after `ms`. The returned function cancels the call. */
export function after(clock: Clock, ms: number, callback: () => void): () => void {
  return clock.at(clock.now().monoMs + ms, callback);
}

/** The name of what happened first. Rejects if a promise rejects before anything else happened. */
export async function first<Name extends string>(clock: Clock, waits: Waits<Name>): Promise<Name> {
  const cleanups: (() => void)[] = [];
  try {
    return await new Promise<Name>((resolve, reject) => {
      for (const [name, wait] of Object.entries(waits) as [Name, Waits<Name>[Name]][]) {
        const happened = () => resolve(name);
        if (wait === undefined) continue;
        if (typeof wait === "number") cleanups.push(after(clock, wait, happened));
        else if (!(wait instanceof AbortSignal)) wait.then(happened, reject);
        else if (wait.aborted) happened();
        else cleanups.push(onAbort(wait, happened));
      }
    });
  } finally {
    for (const cleanup of cleanups) cleanup();
  }
}

/** Waits for `ms`, or until the signal aborts. */
export async function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  await first(clock, { passed: ms, aborted: signal });
}

/** Waits for the promise, but no longer than `ms`. Resolves with whether the promise resolved in time. */
export async function within(clock: Clock, ms: number, promise: Promise<unknown>): Promise<boolean> {
  return (await first(clock, { resolved: promise, late: ms })) === "resolved";
}
