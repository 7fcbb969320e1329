import { describe, expect, it } from "vitest";
import type { OnExit } from "../options.ts";
import { type ChildEnd, decideAfterEnd, type NextStep } from "./child-end.ts";

const exit = { code: 0, signal: undefined };
const ends = {
  "term ended": { type: "term-ended" },
  "not spawned": { type: "not-spawned", why: "", exitCode: 127 },
  "not ready": { type: "not-ready", why: "" },
  "exited before ready": { type: "exited", why: "", exit, wasReady: false },
  exited: { type: "exited", why: "", exit, wasReady: true },
  unhealthy: { type: "unhealthy", why: "" },
  unguarded: { type: "unguarded", why: "" },
  unreachable: { type: "unreachable", why: "" },
} satisfies Record<string, ChildEnd>;

const table: readonly [keyof typeof ends, hasLed: boolean, Record<OnExit, NextStep>][] = [
  ["term ended", false, { restart: "return", release: "return", exit: "return" }],
  ["term ended", true, { restart: "return", release: "return", exit: "return" }],
  ["not spawned", false, { restart: "give-up", release: "give-up", exit: "exit" }],
  ["not spawned", true, { restart: "restart", release: "restart", exit: "exit" }],
  ["not ready", false, { restart: "give-up", release: "give-up", exit: "give-up" }],
  ["not ready", true, { restart: "restart", release: "restart", exit: "restart" }],
  ["exited before ready", false, { restart: "give-up", release: "release", exit: "exit" }],
  ["exited before ready", true, { restart: "restart", release: "release", exit: "exit" }],
  ["exited", true, { restart: "restart", release: "release", exit: "exit" }],
  ["unhealthy", true, { restart: "restart", release: "restart", exit: "restart" }],
  ["unreachable", true, { restart: "give-up", release: "give-up", exit: "give-up" }],
  ["unguarded", false, { restart: "give-up", release: "give-up", exit: "give-up" }],
  ["unguarded", true, { restart: "give-up", release: "give-up", exit: "give-up" }],
];

describe("decideAfterEnd", () => {
  it.each(table)("%s, has led before: %s", (end, hasLed, steps) => {
    for (const [onExit, step] of Object.entries(steps)) {
      expect([onExit, decideAfterEnd(ends[end], onExit as OnExit, hasLed)]).toEqual([onExit, step]);
    }
  });
});
