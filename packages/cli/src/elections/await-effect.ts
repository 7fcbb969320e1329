/**
 * Waits until an order has taken effect. It checks every state of the lock that the watch reports, and checks again when the
 * holder's lease expires, which the watch does not report.
 */
import { after, type Clock, onAbort } from "@tenure/base";
import type { Reader } from "./find.ts";
import { follow } from "./follow.ts";
import { type ElectionState, stateOf } from "./state.ts";

export interface Outcome {
  /** Whether the order took effect. */
  readonly ok: boolean;
  readonly message: string;
  readonly leader?: string | undefined;
}

export type Ending =
  | { readonly kind: "outcome"; readonly outcome: Outcome }
  | {
      readonly kind: "timeout";
      readonly last: ElectionState | undefined;
      readonly trouble: string | undefined;
    }
  | { readonly kind: "interrupted" };

/** @param outcomeOf receives undefined if the lock was deleted; returns undefined to keep waiting */
export async function awaitEffect(
  reader: Reader,
  clock: Clock,
  interrupt: AbortSignal,
  from: ElectionState,
  timeoutMs: number,
  outcomeOf: (state: ElectionState | undefined) => Outcome | undefined,
): Promise<Ending> {
  const stop = new AbortController();
  let ending: Ending | undefined;
  let last: ElectionState | undefined = from;
  let trouble: string | undefined;
  let cancelExpiry = () => {};
  const end = (as: Ending) => {
    ending ??= as;
    stop.abort();
  };
  const check = (state: ElectionState | undefined) => {
    cancelExpiry();
    last = state;
    const outcome = outcomeOf(state);
    if (outcome) return end({ kind: "outcome", outcome });
    const { expiresInMs = 0, standing, kind, object } = state ?? {};
    if (standing !== "led" || expiresInMs <= 0) return undefined;
    cancelExpiry = after(clock, expiresInMs + 1, () =>
      check(
        stateOf(kind as ElectionState["kind"], object as ElectionState["object"], reader.serverClock.nowMs()),
      ),
    );
    return undefined;
  };
  const cancelTimeout = after(clock, timeoutMs, () => end({ kind: "timeout", last, trouble }));
  const cancelInterrupt = onAbort(interrupt, () => end({ kind: "interrupted" }));
  if (interrupt.aborted) end({ kind: "interrupted" });
  try {
    check(from);
    if (ending === undefined) {
      await follow(reader, {
        kind: from.kind,
        namespace: from.namespace,
        name: from.name,
        signal: stop.signal,
        onState: check,
        onDeleted: () => check(undefined),
        onUp() {
          trouble = undefined;
        },
        onDown(error) {
          trouble = error.message;
        },
      });
    }
  } finally {
    cancelTimeout();
    cancelInterrupt();
    cancelExpiry();
  }
  return ending ?? { kind: "interrupted" };
}
