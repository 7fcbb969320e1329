import { expect, it } from "vitest";
import { sameRequestMs, shutdownOn } from "./shutdown.ts";
import { VirtualClock } from "./virtual-clock.ts";

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

it("counts signals within half a second of the first one as one request", async () => {
  const source = newSource();
  const clock = new VirtualClock();
  let repeats = 0;
  const onRepeat = () => {
    repeats += 1;
  };
  const { signal } = shutdownOn(source, onRepeat, clock);
  source.listeners.get("SIGTERM")?.();
  source.listeners.get("SIGTERM")?.();
  await clock.pass(sameRequestMs - 1);
  source.listeners.get("SIGINT")?.();
  expect([signal.aborted, repeats]).toEqual([true, 0]);
  await clock.pass(1);
  source.listeners.get("SIGINT")?.();
  source.listeners.get("SIGINT")?.();
  expect(repeats).toBe(2);
});

it("aborts on request, and a signal afterwards is the first one", () => {
  const source = newSource();
  let repeats = 0;
  const shutdown = shutdownOn(source, () => {
    repeats += 1;
  });
  shutdown.request();
  expect(shutdown.signal.aborted).toBe(true);
  source.listeners.get("SIGINT")?.();
  expect(repeats).toBe(0);
});
