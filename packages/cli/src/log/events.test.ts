/** The catalogue of the log's events: every event in the sources is in it, and a line with other fields is noticed. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { lineProblems, logEvents } from "./events.ts";

const line = (facts: object) =>
  JSON.stringify({ level: "info", time: "2026-01-02T03:04:05.678Z", ...facts, msg: "text" });

it("has every event that the sources log, and no other", () => {
  const sources = fileURLToPath(new URL("..", import.meta.url));
  const logged = readdirSync(sources, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
    .flatMap((path) => [...readFileSync(sources + path, "utf8").matchAll(/\bevent: "([a-z-]+)"/g)])
    .map(([, event]) => event);
  const childEvents = Object.keys(logEvents).filter((event) => event.startsWith("child-"));
  expect([...new Set([...logged, ...childEvents])].sort()).toEqual(Object.keys(logEvents).sort());
});

it.each([
  ["an unknown event", { event: "sung" }],
  ["a field that is not declared", { event: "overrun", identity: "a", colour: "red" }],
  ["a field that is missing", { event: "overrun" }],
  ["a value of the wrong type", { event: "child-killing", pids: ["7"] }],
  ["null where it is not allowed", { event: "overrun", identity: null }],
])("notices %s", (_, facts) => {
  expect(lineProblems(line(facts))).toHaveLength(1);
});

it("accepts what is declared", () => {
  expect(lineProblems(line({ event: "leader", identity: "a", leader: null }))).toEqual([]);
  expect(lineProblems(line({ event: "child-killing", pids: [7], share: "shard 1" }))).toEqual([]);
});
