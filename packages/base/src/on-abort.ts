/**
 * Puts one listener on an AbortSignal for any number of callers. Node warns of a leak when a signal has more than ten
 * listeners, but one signal may well end a hundred elections. The listener is removed with its last caller.
 *
 * Every request of an election listens to a signal of its own, so this uses no EventTarget, which takes longer to create than
 * the rest of it.
 */
import { throwUncaught } from "./platform.ts";

interface Relay {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

const relays = new WeakMap<AbortSignal, Relay>();

/** Calls back when the signal aborts. The returned function removes the callback; calling it again has no effect. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const relay = relays.get(signal) ?? newRelay(signal);
  // A function of its own, so that the same callback can be added twice.
  const own = () => callback();
  relay.callbacks.add(own);
  return () => {
    if (!relay.callbacks.delete(own) || relay.callbacks.size > 0) return;
    signal.removeEventListener("abort", relay.listener);
    relays.delete(signal);
  };
}

function newRelay(signal: AbortSignal): Relay {
  const callbacks = new Set<() => void>();
  const listener = () => {
    for (const callback of [...callbacks]) {
      // A callback that was called before may have removed this one.
      if (callbacks.has(callback)) callIsolated(callback);
    }
  };
  signal.addEventListener("abort", listener, { once: true });
  const relay = { callbacks, listener };
  relays.set(signal, relay);
  return relay;
}

/** If one callback throws, the others still run, and the error surfaces as one that nobody caught. */
function callIsolated(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    throwUncaught(error);
  }
}
