import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseStat, procTable } from "./process-table.ts";

const rest = (threads: number) => `0 -1 4194304 1 2 3 4 5 6 7 8 20 0 ${threads} 0 987654 1000 100`;

describe("parseStat", () => {
  it("reads a line", () => {
    expect(parseStat(`42 (sh) S 7 40 39 ${rest(1)}`)).toEqual({
      pid: 42,
      parent: 7,
      group: 40,
      session: 39,
      started: 987_654,
      name: "sh",
    });
  });

  it("accepts any name", () => {
    expect(parseStat(`42 (a) Z 1 1 1) S 7 40 39 ${rest(1)}`)?.parent).toBe(7);
  });

  it("leaves out processes that have exited, but not those whose other threads still run", () => {
    expect(parseStat(`42 (sh) Z 7 40 39 ${rest(1)}`)).toBeUndefined();
    expect(parseStat(`42 (sh) X 7 40 39 ${rest(0)}`)).toBeUndefined();
    expect(parseStat(`42 (sh) Z 7 40 39 ${rest(3)}`)?.pid).toBe(42);
  });

  it("leaves out incomplete lines", () => {
    expect(parseStat("")).toBeUndefined();
    expect(parseStat("42 (sh) S 7")).toBeUndefined();
  });
});

describe("procTable", () => {
  it("contains this process and its environment", () => {
    const table = procTable();
    const own = table.read()?.find(({ pid }) => pid === process.pid);
    expect(own?.parent).toBe(process.ppid);
    expect(table.environmentOf(process.pid)?.includes("PATH=")).toBe(true);
  });

  it("is undefined if there is no /proc", () => {
    const empty = mkdtempSync(join(tmpdir(), "tenure-test-"));
    expect(procTable(empty).read()).toBeUndefined();
    expect(procTable(join(empty, "none")).read()).toBeUndefined();
    expect(procTable(empty).environmentOf(1)).toBeUndefined();
    rmSync(empty, { recursive: true });
  });
});
