/** Logs what the supervisor does: phases, the child, its health. */
import { formatDuration } from "@tenure/base";
import type { ChildEvent, ChildExit, HealthEvent, Supervisor } from "@tenure/supervisor";
import type { Facts, Log } from "../../log/log.ts";

/** @returns a function that stops the log */
export function logSupervisor(supervisor: Pick<Supervisor, "on">, log: Log): () => void {
  const stops = [
    supervisor.on("phase", ({ phase, from }) => {
      log.info(`phase ${from} → ${phase}`, { event: "phase", phase, from });
    }),
    supervisor.on("child", (event) => {
      const { type, ...facts } = event;
      const isTrouble = type === "killing" || type === "gave-up" || type === "restarting";
      const write = isTrouble ? log.warn : log.info;
      write(describeChild(event), { event: `child-${type}`, ...facts } as Facts);
    }),
    supervisor.on("health", (event) => {
      const write = event.healthy ? log.info : log.warn;
      write(describeHealth(event), { event: "health", ...event });
    }),
    supervisor.on("error", ({ error }) => {
      log.error(error.message, { event: "error", code: (error as { code?: unknown }).code });
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

function describeChild(event: ChildEvent): string {
  switch (event.type) {
    case "started":
      return `child ${event.pid} started${event.restarts > 0 ? `, restart ${event.restarts}` : ""}`;
    case "ready":
      return `child ${event.pid} is ready after ${formatDuration(Math.round(event.tookMs))}`;
    case "stopping":
      return `child ${event.pid} was asked to stop within ${formatDuration(Math.round(event.timeoutMs))}`;
    case "killing":
      return `killing ${event.pids.length === 1 ? "process" : "processes"} ${event.pids.join(", ")}`;
    case "exited":
      return `child ${event.pid} exited ${describeExit(event.exit)}`;
    case "stopped":
      return `child ${event.pid} and its descendants have exited${event.killed ? "; some had to be killed" : ""}`;
    case "restarting":
      return `restarting the child ${
        event.delayMs > 0 ? `in ${formatDuration(event.delayMs)}` : "now"
      }: ${event.why}`;
    case "gave-up":
      return `giving up leadership and staying out for ${formatDuration(event.cooldownMs)}: ${event.why}`;
  }
}

function describeExit({ code, signal }: ChildExit): string {
  return signal === undefined ? `with code ${code}` : `on ${signal}`;
}

function describeHealth({ healthy, failures, message }: HealthEvent): string {
  if (healthy) return "the child is healthy";
  return `health check failed (${failures} in a row)${message === undefined ? "" : `: ${message}`}`;
}
