import { expect, it } from "vitest";
import { shutdownOn } from "./shutdown.ts";

function newSource() {
  const listeners = new Map<string, () => void>();
  return {
    listeners,
    onSignal(signal: string, listener: () => void) {
      listeners.set(signal, listener);
      return () => listeners.delete(signal);
    },
  };
}

it.each(["SIGINT", "SIGTERM"])("aborts at the first %s and reports every further signal", (name) => {
  const source = newSource();
  let repeats = 0;
  const shutdown = shutdownOn(source, () => {
    repeats += 1;
  });
  expect(shutdown.signal.aborted).toBe(false);
  source.listeners.get(name)?.();
  expect([shutdown.signal.aborted, repeats]).toEqual([true, 0]);
  source.listeners.get("SIGTERM")?.();
  source.listeners.get("SIGINT")?.();
  expect(repeats).toBe(2);
});

it("stops listening when it is disposed", () => {
  const source = newSource();
  shutdownOn(source).dispose();
  expect(source.listeners.size).toBe(0);
});
