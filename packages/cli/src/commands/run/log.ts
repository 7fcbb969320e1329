/** What the supervisor does, a line each: phases, the child, its health. */
import { formatDuration } from "@tenure/base";
import type { ChildEvent, ChildExit, HealthEvent, Supervisor } from "@tenure/supervisor";
import type { Facts, Log } from "../../shared/log.ts";

/** @returns ends it */
export function logSupervisor(supervisor: Pick<Supervisor, "on">, log: Log): () => void {
  const ends = [
    supervisor.on("phase", ({ phase, from }) => {
      log.info(`phase ${from} → ${phase}`, { event: "phase", phase, from });
    }),
    supervisor.on("child", (event) => {
      const { type, ...facts } = event;
      const isTrouble = type === "killing" || type === "gave-up" || type === "restarting";
      const write = isTrouble ? log.warn : log.info;
      write(aboutChild(event), { event: `child-${type}`, ...facts } as Facts);
    }),
    supervisor.on("health", (event) => {
      const write = event.healthy ? log.info : log.warn;
      write(aboutHealth(event), { event: "health", ...event });
    }),
    supervisor.on("error", ({ error }) => {
      log.error(error.message, { event: "error", code: (error as { code?: unknown }).code });
    }),
  ];
  return () => {
    for (const end of ends) end();
  };
}

function aboutChild(event: ChildEvent): string {
  switch (event.type) {
    case "started":
      return `child ${event.pid} started${event.restarts > 0 ? `, restart ${event.restarts}` : ""}`;
    case "ready":
      return `child ${event.pid} is ready after ${formatDuration(Math.round(event.tookMs))}`;
    case "stopping":
      return `child ${event.pid} is asked to stop within ${formatDuration(Math.round(event.timeoutMs))}`;
    case "killing":
      return `killing ${event.pids.length === 1 ? "process" : "processes"} ${event.pids.join(", ")}`;
    case "exited":
      return `child ${event.pid} ended ${inWords(event.exit)}`;
    case "stopped":
      return `nothing is left of child ${event.pid}${event.killed ? ", which had to be killed" : ""}`;
    case "restarting":
      return `the child is started again ${
        event.delayMs > 0 ? `in ${formatDuration(event.delayMs)}` : "at once"
      }: ${event.why}`;
    case "gave-up":
      return `leadership is given up, keeping out for ${formatDuration(event.cooldownMs)}: ${event.why}`;
  }
}

function inWords({ code, signal }: ChildExit): string {
  return signal === undefined ? `with exit code ${code}` : `by ${signal}`;
}

function aboutHealth({ healthy, failures, message }: HealthEvent): string {
  if (healthy) return "the child is healthy";
  return `health check failed, ${failures} in a row${message === undefined ? "" : `: ${message}`}`;
}
