import { expect, it } from "vitest";
import { fakePlatform } from "../testing/fake-platform.ts";
import { logProblems, openLog } from "./log.ts";

async function logged(isTerminal: boolean, logFormat?: string, to: 1 | 2 = 1) {
  const platform = fakePlatform("", { home: "/", isTerminal });
  const log = await openLog(logFormat === undefined ? {} : { logFormat }, platform, to);
  log.info("new leader elected: b", { event: "leader", leader: "b" });
  log.warn("careful", { event: "advice" });
  log.error("wrong", { event: "overrun" });
  await log.close();
  return to === 1 ? platform.printed : platform.complained;
}

it("on a terminal: plain lines", async () => {
  expect((await logged(true)).replace(/\d\d:\d\d:\d\d\.678/g, "TIME")).toBe(
    "TIME  new leader elected: b\nTIME  warning: careful\nTIME  error: wrong\n",
  );
});

it.each([
  ["in a pipe", false, undefined],
  ["with --log-format json", true, "json"],
])("%s: JSON lines", async (_name, isTerminal, format) => {
  const lines = (await logged(isTerminal, format)).trim().split("\n");
  const time = "2026-01-02T03:04:05.678Z";
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { level: "info", time, event: "leader", leader: "b", msg: "new leader elected: b" },
    { level: "warn", time, event: "advice", msg: "careful" },
    { level: "error", time, event: "overrun", msg: "wrong" },
  ]);
});

it("writes to stderr if stdout belongs to the child", async () => {
  expect(await logged(false, "text", 2)).toContain("new leader elected: b\n");
});

it("rejects an unknown format", () => {
  expect(logProblems({ logFormat: "xml" })).toEqual([
    { field: "logFormat", rule: "must be one of text, json", value: '"xml"' },
  ]);
  expect(logProblems({})).toEqual([]);
});
