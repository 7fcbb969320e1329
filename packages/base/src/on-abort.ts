/**
 * Puts one listener on an AbortSignal for any number of callers. Node warns of a leak when a signal has more than ten
 * listeners, but one signal may well end a hundred elections. The listener is removed with its last caller.
 */
import { setMaxListeners } from "node:events";

interface Relay {
  readonly target: EventTarget;
  readonly listener: () => void;
  count: number;
}

const relays = new WeakMap<AbortSignal, Relay>();

/** Calls back when the signal aborts. The returned function removes the callback; calling it again has no effect. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const relay = relays.get(signal) ?? newRelay(signal);
  // An EventTarget isolates the callbacks from each other: if one throws, the others still run.
  const listener = () => callback();
  relay.target.addEventListener("abort", listener, { once: true });
  relay.count += 1;
  let isRemoved = false;
  return () => {
    if (isRemoved) return;
    isRemoved = true;
    relay.target.removeEventListener("abort", listener);
    relay.count -= 1;
    if (relay.count > 0) return;
    signal.removeEventListener("abort", relay.listener);
    relays.delete(signal);
  };
}

function newRelay(signal: AbortSignal): Relay {
  const target = new EventTarget();
  setMaxListeners(0, target);
  const listener = () => void target.dispatchEvent(new Event("abort"));
  signal.addEventListener("abort", listener, { once: true });
  const relay = { target, listener, count: 0 };
  relays.set(signal, relay);
  return relay;
}
