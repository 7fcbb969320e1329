import type { SupervisorEvents } from "@tenure/supervisor";
import { expect, it } from "vitest";
import { logSupervisor } from "./supervisor-log.ts";

type Listener = (event: never) => void;

function logged(name: keyof SupervisorEvents, event: object) {
  const listeners = new Map<string, Listener>();
  const lines: { level: string; message: string; facts: unknown }[] = [];
  const write = (level: string) => (message: string, facts?: unknown) =>
    void lines.push({ level, message, facts });
  logSupervisor(
    { on: ((at: string, listener: Listener) => listeners.set(at, listener)) as never },
    { info: write("info"), warn: write("warn"), error: write("error"), close: async () => {} },
  );
  listeners.get(name)?.(event as never);
  return lines[0];
}

it("logs a phase, with facts for programs", () => {
  expect(logged("phase", { phase: "leader", from: "pre-leader" })).toEqual({
    level: "info",
    message: "phase pre-leader → leader",
    facts: { event: "phase", phase: "leader", from: "pre-leader" },
  });
});

const exit = { code: 3, signal: undefined };
it.each([
  ["child", { type: "started", pid: 7, restarts: 0 }, "info", "child 7 started"],
  ["child", { type: "started", pid: 7, restarts: 2 }, "info", "child 7 started, restart 2"],
  ["child", { type: "ready", pid: 7, tookMs: 12.3 }, "info", "child 7 is ready after 12ms"],
  ["child", { type: "stopping", pid: 7, timeoutMs: 25_000 }, "info", "child 7 was asked to stop within 25s"],
  ["child", { type: "killing", pids: [7] }, "warn", "killing process 7"],
  ["child", { type: "killing", pids: [7, 8] }, "warn", "killing processes 7, 8"],
  ["child", { type: "exited", pid: 7, exit }, "info", "child 7 exited with code 3"],
  [
    "child",
    { type: "exited", pid: 7, exit: { code: undefined, signal: "SIGSEGV" } },
    "info",
    "child 7 exited on SIGSEGV",
  ],
  [
    "child",
    { type: "stopped", pid: 7, exit, killed: false },
    "info",
    "child 7 and its descendants have exited",
  ],
  [
    "child",
    { type: "stopped", pid: 7, exit, killed: true },
    "info",
    "child 7 and its descendants have exited; some had to be killed",
  ],
  [
    "child",
    { type: "restarting", delayMs: 0, restarts: 1, why: "it ended" },
    "warn",
    "restarting the child now: it ended",
  ],
  [
    "child",
    { type: "restarting", delayMs: 2_000, restarts: 3, why: "it ended" },
    "warn",
    "restarting the child in 2s: it ended",
  ],
  [
    "child",
    { type: "gave-up", cooldownMs: 30_000, why: "it is not ready" },
    "warn",
    "giving up leadership and staying out for 30s: it is not ready",
  ],
  ["health", { healthy: true, failures: 0 }, "info", "the child is healthy"],
  [
    "health",
    { healthy: false, failures: 2, message: "503" },
    "warn",
    "health check failed (2 in a row): 503",
  ],
  ["error", { error: new Error("no watchdog") }, "error", "no watchdog"],
] as const)("%s %j", (name, event, level, message) => {
  expect(logged(name, event)).toMatchObject({ level, message });
});
