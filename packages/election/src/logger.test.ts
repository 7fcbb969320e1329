/** With the real loggers: what an application finds in its log. */
import { Writable } from "node:stream";
import { Emitter } from "@tenure/base";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import winston from "winston";
import type { ElectionEvents } from "./events.ts";
import { type Logger, logEvents } from "./logger.ts";
import type { Term } from "./term.ts";

const term = { token: "00000000000000000007" } as Term;

function collect() {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(...String(chunk).trim().split("\n"));
      done();
    },
  });
  return { lines, stream };
}

function play(logger: Logger): void {
  const events = new Emitter<ElectionEvents>(() => {});
  logEvents(events, logger, "pod-a");
  events.emit("term-started", { term });
  events.emit("leader-changed", { leader: "pod-a" });
  events.emit("error", {
    error: new Error("Cannot renew the lease"),
    failure: { kind: "timeout", message: "late" },
  });
  events.emit("term-ended", { term, reason: "renew-deadline", released: false });
  events.emit("leader-changed", { leader: "pod-b" });
  events.emit("overrun", { term });
  events.emit("term-ended", { term, reason: "step-down", released: true });
  events.emit("leader-changed", { leader: undefined });
}

const expected = [
  ["info", "pod-a leads", { event: "term-started", identity: "pod-a", token: term.token }],
  ["warn", "Cannot renew the lease", { event: "error", kind: "timeout" }],
  [
    "warn",
    "pod-a lost leadership (renew-deadline)",
    { event: "term-ended", reason: "renew-deadline", released: false },
  ],
  ["info", "pod-b leads", { event: "leader-changed", leader: "pod-b" }],
  ["error", "pod-a still works although its term is over", { event: "overrun", token: term.token }],
  [
    "info",
    "pod-a gave up leadership (step-down)",
    { event: "term-ended", released: true, token: term.token },
  ],
  ["info", "nobody leads", { event: "leader-changed", leader: null }],
] as const;

describe("logEvents", () => {
  it("writes to pino", () => {
    const { lines, stream } = collect();
    play(pino({ level: "info", formatters: { level: (label) => ({ level: label }) } }, stream));
    const seen = lines.map((line) => JSON.parse(line));
    expect(seen).toMatchObject(expected.map(([level, msg, facts]) => ({ level, msg, ...facts })));
  });

  it("writes to winston", () => {
    const { lines, stream } = collect();
    const transports = [new winston.transports.Stream({ stream })];
    play(winston.createLogger({ level: "info", format: winston.format.json(), transports }));
    const seen = lines.map((line) => JSON.parse(line));
    expect(seen).toMatchObject(expected.map(([level, message, facts]) => ({ level, message, ...facts })));
  });

  it("writes to a console", () => {
    const seen: unknown[][] = [];
    const at = (level: string) => (message: string, facts: object) => void seen.push([level, message, facts]);
    play({ info: at("info"), warn: at("warn"), error: at("error") });
    expect(seen).toMatchObject(expected.map((each) => [...each]));
  });
});
