/** Waiting for the first of several things, without leaving listeners and timers behind. */
import type { Clock } from "@tenure/election";

export type Waits<Name extends string> = Readonly<
  Record<Name, Promise<unknown> | AbortSignal | number | undefined>
>;

/** The name of what came first: a promise that resolved, a signal that aborted, or so many milliseconds that passed. */
export async function first<Name extends string>(clock: Clock, waits: Waits<Name>): Promise<Name> {
  const ends: (() => void)[] = [];
  try {
    return await new Promise<Name>((resolve, reject) => {
      for (const [name, wait] of Object.entries(waits) as [Name, Waits<Name>[Name]][]) {
        const come = () => resolve(name);
        if (wait === undefined) continue;
        if (typeof wait === "number") ends.push(clock.at(clock.now().monoMs + wait, come));
        else if (wait instanceof AbortSignal) {
          if (wait.aborted) come();
          wait.addEventListener("abort", come, { once: true });
          ends.push(() => wait.removeEventListener("abort", come));
        } else wait.then(come, reject);
      }
    });
  } finally {
    for (const end of ends) end();
  }
}
