/**
 * Listens to an AbortSignal once for everybody who wants to know: Node takes more than ten listeners on one signal for a
 * leak and warns, and one signal that ends a hundred elections is none. Nothing stays on the signal when nobody listens.
 */
import { setMaxListeners } from "node:events";

interface Relay {
  readonly target: EventTarget;
  readonly listener: () => void;
  count: number;
}

const relays = new WeakMap<AbortSignal, Relay>();

/** Calls back when the signal aborts. The result ends it, and may be called any number of times. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const relay = relays.get(signal) ?? newRelay(signal);
  // One that throws must not keep the others from hearing: a target of events sees to that.
  const listener = () => callback();
  relay.target.addEventListener("abort", listener, { once: true });
  relay.count += 1;
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
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
