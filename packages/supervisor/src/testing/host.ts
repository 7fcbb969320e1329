/** Runs host.mjs, a supervisor in its own process, and reads its events. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { until } from "./processes.ts";

interface HostEvent {
  readonly event: string;
  readonly atMs: number;
  readonly type?: string;
  readonly pid?: number;
  readonly phase?: string;
  readonly code?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly remainingMs?: number;
}

export interface Host {
  readonly process: ChildProcess;
  readonly pid: number;
  readonly events: readonly HostEvent[];
  /** The phases so far. */
  readonly phases: () => string[];
  /** Resolves with the first event that matches. */
  readonly event: (matches: (event: HostEvent) => boolean) => Promise<HostEvent>;
  readonly exitCode: Promise<number | null>;
}

/**
 * A child is killed about 3 s after the last renewal, so that the tests are fast, and 9 s before the hard deadline, so that a
 * test on a busy machine does not fail because it looks late.
 */
export const renewDeadlineMs = 1_500;
export const hardDeadlineMs = 11_780;
export const shortTimings = {
  leaseDuration: "12s",
  renewDeadline: `${renewDeadlineMs}ms`,
  retryPeriod: "200ms",
};
const killMarginMs = 9_000;
/** No deadline passes during a test: a process that is killed is not killed because its term ran out. */
export const longTimings = { leaseDuration: "120s", renewDeadline: "100s", retryPeriod: "200ms" };

const program = fileURLToPath(new URL("./host.mjs", import.meta.url));

export function startHost(supervisor: object, election: object = shortTimings): Host {
  const argument = JSON.stringify({ supervisor: { killMarginMs, ...supervisor }, election });
  const child = spawn(process.execPath, [program, argument], { stdio: ["ignore", "pipe", "inherit"] });
  const events: HostEvent[] = [];
  let partial = "";
  child.stdout?.setEncoding("utf8").on("data", (piece: string) => {
    const lines = (partial + piece).split("\n");
    partial = lines.pop() ?? "";
    // The output of the supervised child arrives here too.
    for (const line of lines) if (line.startsWith('{"event"')) events.push(JSON.parse(line));
  });
  const exitCode = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  return {
    process: child,
    pid: child.pid ?? 0,
    events,
    phases: () => events.flatMap(({ event, phase }) => (event === "phase" && phase ? [phase] : [])),
    event: async (matches) => {
      try {
        await until(() => events.some(matches));
      } catch {
        throw new Error(
          `no event matches ${matches}; there were:\n${events.map((event) => JSON.stringify(event)).join("\n")}`,
        );
      }
      return events.find(matches) as HostEvent;
    },
    exitCode,
  };
}

export const isReady = ({ event, type }: HostEvent) => event === "child" && type === "ready";
