/** Writes what happens in an election to the application's logger: console, pino, winston, or any other with the same methods. */
import type { Emitter } from "@tenure/base";
import type { ElectionEvents } from "./events.ts";

// Loggers have signatures of their own, with overloads. Only these methods are called.
// biome-ignore lint/suspicious/noExplicitAny: a narrower type would reject the loggers that people have
type Log = (...args: any[]) => unknown;

/** A logger: `console`, a logger of pino, or one of winston. */
export interface Logger {
  /** Who leads, and terms that ended on purpose. */
  info: Log;
  /** Terms that were lost, and requests that failed. */
  warn: Log;
  /** Work that goes on although its term is over. */
  error: Log;
}

type Level = "info" | "warn" | "error";

/** pino takes the facts before the message, all others after it. Only loggers of pino have bindings. */
function isPino(logger: Logger): boolean {
  return typeof (logger as { bindings?: unknown }).bindings === "function";
}

/** Logs the events. A logger that throws does not affect the election: the emitter reports what a listener throws. */
export function logEvents(events: Emitter<ElectionEvents>, logger: Logger, identity: string): void {
  const write = (level: Level, message: string, facts: object) => {
    const all = { ...facts, identity };
    if (isPino(logger)) logger[level](all, message);
    else logger[level](message, all);
  };
  events.on("term-started", ({ term: { token } }) =>
    write("info", `${identity} leads`, { event: "term-started", token }),
  );
  events.on("leader-changed", ({ leader }) => {
    if (leader === identity) return;
    const message = leader === undefined ? "nobody leads" : `${leader} leads`;
    write("info", message, { event: "leader-changed", leader: leader ?? null });
  });
  events.on("term-ended", ({ reason, released, term: { token } }) =>
    write(released ? "info" : "warn", `${identity} ${released ? "gave up" : "lost"} leadership (${reason})`, {
      event: "term-ended",
      reason,
      released,
      token,
    }),
  );
  events.on("overrun", ({ term: { token } }) =>
    write("error", `${identity} still works although its term is over`, { event: "overrun", token }),
  );
  events.on("error", ({ error, failure }) =>
    write("warn", error.message, { event: "error", ...(failure && { kind: failure.kind }) }),
  );
}
