import { describe, expect, it } from "vitest";
import { draw, type Scene } from "../../../examples/demo/view.mjs";

const scene: Scene = {
  elapsedMs: 83_000,
  replicas: [
    { name: "a", phase: "leader", state: "up" },
    { name: "b", phase: "follower", state: "up" },
    { name: "c", phase: "leader", state: "frozen" },
  ],
  holder: "a",
  leaseAgeMs: 600,
  leaseMs: 3_000,
  token: 44n,
  placed: 12_345,
  finished: 12_340,
  refused: 3,
  perSecond: 99.6,
  handovers: [
    { elapsedMs: 10_000, from: "b", to: "c", gapMs: 812.4, cause: "stepped down" },
    { elapsedMs: 70_000, from: "c", to: "a", gapMs: 4_266, cause: "frozen" },
  ],
  notes: ["01:20  a subscribes"],
};
const terminal = { columns: 100, rows: 30, colour: false };

describe("the live view", () => {
  it("shows who leads, phases, the age of the lease, the rate and every handover with its milliseconds", () => {
    expect(draw(scene, terminal)).toEqual([
      "tenure demo  01:23  three replicas, one leader",
      "",
      "  a  leader                lease [========  ] renewed 0.6 s ago  token 44",
      "  b  follower              ",
      "  c  leader (frozen)       ",
      "",
      "orders  100/s   12,340 of 12,345 finished   3 rejected by token",
      "",
      "handovers",
      "  00:10  b → c     812 ms  stepped down",
      "  01:10  c → a   4,266 ms  frozen",
      "01:20  a subscribes",
      "",
      "k kill the leader   f freeze   c cut its network   s step down   q quit",
    ]);
  });

  it.each([1, 8, 20, 39, 40, 79])("fits into %i columns", (columns) => {
    for (const line of draw(scene, { ...terminal, columns }))
      expect(line.length).toBeLessThanOrEqual(columns);
  });

  it.each([5, 11, 12, 14, 20])("leaves a row free of %i, and keeps the last handovers", (rows) => {
    const handovers = Array.from({ length: 40 }, (_, index) => ({
      elapsedMs: index * 1_000,
      from: "a",
      to: "b",
      gapMs: index,
      cause: "killed",
    }));
    const lines = draw({ ...scene, handovers }, { ...terminal, rows });
    expect(lines.length).toBeLessThanOrEqual(Math.max(rows - 1, 10));
    if (rows >= 14) expect(lines.join()).toContain("00:39");
  });

  it("has colours only where they are wanted, and the same words", () => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escapes are what is looked for
    const escapes = /\u001b\[[\d;]*m/g;
    const painted = draw(scene, { ...terminal, colour: true });
    expect(painted.join()).toMatch(escapes);
    expect(draw(scene, terminal).join()).not.toMatch(escapes);
    expect(painted.map((line) => line.replace(escapes, ""))).toEqual(draw(scene, terminal));
  });
});
