/**
 * Waits until an order shows its effect: judges every state of the lock as the watch tells it, and again when a holder's time
 * runs out, which nothing tells.
 */
import type { Platform } from "../platform.ts";
import type { Reader } from "./find.ts";
import { serverNowMs } from "./find.ts";
import { follow } from "./follow.ts";
import { type ElectionState, stateOf } from "./state.ts";

export interface Verdict {
  /** Whether what was ordered came about. */
  readonly ok: boolean;
  readonly message: string;
  readonly leader?: string | undefined;
}

export type Ending =
  | { readonly kind: "verdict"; readonly verdict: Verdict }
  | {
      readonly kind: "timeout";
      readonly last: ElectionState | undefined;
      readonly trouble: string | undefined;
    }
  | { readonly kind: "interrupted" };

/** @param judge undefined in place of a state means that the lock is gone; undefined as the answer means to wait on */
export async function awaitEffect(
  reader: Reader,
  platform: Pick<Platform, "after">,
  interrupted: Promise<unknown>,
  from: ElectionState,
  timeoutMs: number,
  judge: (state: ElectionState | undefined) => Verdict | undefined,
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
  const look = (state: ElectionState | undefined) => {
    cancelExpiry();
    last = state;
    const verdict = judge(state);
    if (verdict) return end({ kind: "verdict", verdict });
    const { expiresInMs = 0, standing, kind, object } = state ?? {};
    if (standing !== "led" || expiresInMs <= 0) return undefined;
    cancelExpiry = platform.after(expiresInMs + 1, () =>
      look(stateOf(kind as ElectionState["kind"], object as ElectionState["object"], serverNowMs(reader))),
    );
    return undefined;
  };
  const cancelTimeout = platform.after(timeoutMs, () => end({ kind: "timeout", last, trouble }));
  void interrupted.then(() => end({ kind: "interrupted" }));
  try {
    look(from);
    if (ending === undefined) {
      await follow(reader, {
        kind: from.kind,
        namespace: from.namespace,
        name: from.name,
        signal: stop.signal,
        onState: look,
        onDeleted: () => look(undefined),
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
    cancelExpiry();
  }
  return ending ?? { kind: "interrupted" };
}
