import { VirtualClock } from "@tenure/base/virtual-clock";
import { describe, expect, it } from "vitest";
import { killUntilGone } from "./kill.ts";
import type { ProcessTree } from "./process-tree.ts";

/** A tree that finds these processes, one list for each scan. All later scans find the last list. */
function treeWith(...scans: number[][]) {
  let at = 0;
  const tree = { kill: () => scans[Math.min(at++, scans.length - 1)] } as unknown as ProcessTree;
  return { tree, scans: () => at };
}

async function kill(...given: number[][]) {
  const clock = new VirtualClock();
  const { tree, scans } = treeWith(...given);
  const killed: (readonly number[])[] = [];
  const stuck: number[] = [];
  let result: number | undefined;
  void killUntilGone(tree, {
    clock,
    onKill: (pids) => killed.push(pids),
    onStuck: (_, sinceMs) => stuck.push(Math.floor(sinceMs / 1_000)),
  }).then((value) => {
    result = value;
  });
  await clock.pass(70_000);
  return { killed, stuck, result, scans: scans() };
}

describe("killUntilGone", () => {
  it("needs two empty scans in a row", async () => {
    expect(await kill([])).toMatchObject({ result: 0, scans: 2 });
    expect(await kill([], [5], [], [])).toMatchObject({ result: 1, scans: 4, killed: [[5]] });
  });

  it("reports each process once", async () => {
    expect(await kill([5, 6], [5, 7], [7], [], [])).toMatchObject({ result: 3, killed: [[5, 6], [7]] });
  });

  it("does not end while a process does not die, and reports that repeatedly", async () => {
    const { result, stuck } = await kill([5]);
    expect(result).toBeUndefined();
    expect(stuck).toEqual([1, 31, 61]);
  });
});
