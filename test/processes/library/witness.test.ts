import { describe, expect, it } from "vitest";
import { judge } from "./witness.mjs";

const [one, two] = ["00000000000000000001", "00000000000000000002"];
const overlaps = (...lines: string[]) => judge(lines).overlaps;

describe("judge", () => {
  it("accepts work of one after the other", () => {
    const lines = [
      `${one} a starts a job`,
      `${one} a does a step`,
      `${one} a ends a job`,
      `${two} b starts a job`,
    ];
    expect(judge(lines)).toEqual({ overlaps: [], leaders: ["a", "b"] });
  });

  it("finds a start while another job runs, with and without tokens", () => {
    expect(overlaps(`${one} a starts a job`, `${two} b starts a job`)).toHaveLength(1);
    expect(overlaps("a starts a report", "b starts a report")).toHaveLength(1);
    expect(overlaps("a starts a report", "a has sent the report", "b starts a report")).toEqual([]);
  });

  it("finds a step of a replica that has lost, after it was frozen", () => {
    const lines = [`${one} a starts a job`, "- a was frozen", `${two} b starts a job`];
    expect(overlaps(...lines)).toEqual([]);
    expect(overlaps(...lines, `${one} a does a step`)).toHaveLength(2);
    expect(overlaps(...lines, `${one} a ends a job`)).toEqual([]);
  });

  it("accepts a successor of a replica that was killed", () => {
    expect(overlaps(`${one} a starts a job`, "- a was killed", `${two} b starts a job`)).toEqual([]);
  });

  it("ignores other lines", () =>
    expect(judge(["a listens on 1234", ""])).toEqual({ overlaps: [], leaders: [] }));
});
