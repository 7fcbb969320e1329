import { describe, expect, it } from "vitest";
import { VirtualClock } from "../testing/virtual-clock.ts";
import type { Family } from "./family.ts";
import { killUntilGone } from "./kill.ts";

/** A family that shows these members, one list for each look, and the last for ever. */
function familyOf(...looks: number[][]) {
  let at = 0;
  const family = { kill: () => looks[Math.min(at++, looks.length - 1)] } as unknown as Family;
  return { family, looks: () => at };
}

async function kill(...looks: number[][]) {
  const clock = new VirtualClock();
  const { family, looks: count } = familyOf(...looks);
  const killed: (readonly number[])[] = [];
  const stuck: number[] = [];
  let result: number | undefined;
  void killUntilGone(family, {
    clock,
    onKill: (pids) => killed.push(pids),
    onStuck: (_, sinceMs) => stuck.push(Math.floor(sinceMs / 1_000)),
  }).then((value) => {
    result = value;
  });
  await clock.pass(70_000);
  return { killed, stuck, result, looks: count() };
}

describe("killUntilGone", () => {
  it("needs two empty looks in a row", async () => {
    expect(await kill([])).toMatchObject({ result: 0, looks: 2 });
    expect(await kill([], [5], [], [])).toMatchObject({ result: 1, looks: 4, killed: [[5]] });
  });

  it("tells of each once", async () => {
    expect(await kill([5, 6], [5, 7], [7], [], [])).toMatchObject({ result: 3, killed: [[5, 6], [7]] });
  });

  it("does not say that it is over while somebody does not die, and says that, again and again", async () => {
    const { result, stuck } = await kill([5]);
    expect(result).toBeUndefined();
    expect(stuck).toEqual([1, 31, 61]);
  });
});
