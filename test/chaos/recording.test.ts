import { describe, expect, it } from "vitest";
import { Timeline } from "../../packages/ui/src/index.ts";
import type { ElectionLine } from "../../packages/ui/src/model/election.ts";
import { overlapsIn } from "../../packages/ui/src/model/overlaps.ts";
import { readHistory } from "./history/history.mjs";
import { judge } from "./history/judge.mjs";
import { workLines } from "./recording.mjs";

interface Worker {
  readonly id: string;
  readonly token: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The lines that a worker writes: two operations, at its start and its end. */
function historyOf(workers: readonly Worker[]): string[] {
  return workers.flatMap(({ id, token, fromMs, toMs }, pid) =>
    [fromMs, toMs].flatMap((atMs, op) => {
      const common = { pid, op, atMs };
      return [
        JSON.stringify({
          kind: "invoke",
          ...common,
          id,
          token: String(token),
          what: "read",
          register: "open",
          untilMs: 1e9,
          checks: true,
        }),
        JSON.stringify({ kind: "return", ...common, outcome: "ok", seq: 0, value: "" }),
      ];
    }),
  );
}

describe("the overlap line of a recording equals the verdict of the witness", () => {
  it.each<[string, Worker[]]>([
    [
      "terms one after the other",
      [
        { id: "a", token: 1, fromMs: 0, toMs: 10 },
        { id: "b", token: 2, fromMs: 10.5, toMs: 20 },
        { id: "a", token: 3, fromMs: 21, toMs: 30 },
      ],
    ],
    [
      "an overlap of a millisecond",
      [
        { id: "a", token: 1, fromMs: 0, toMs: 10 },
        { id: "b", token: 2, fromMs: 9, toMs: 20 },
      ],
    ],
    [
      "two workers of one term",
      [
        { id: "a", token: 1, fromMs: 0, toMs: 10 },
        { id: "a", token: 1, fromMs: 11, toMs: 20 },
      ],
    ],
    [
      "a term inside of another",
      [
        { id: "a", token: 1, fromMs: 0, toMs: 50 },
        { id: "b", token: 2, fromMs: 10, toMs: 20 },
        { id: "c", token: 3, fromMs: 30, toMs: 40 },
      ],
    ],
  ])("%s", async (_, workers) => {
    const history = await readHistory(historyOf(workers));
    const { terms, violations, unjudged } = judge(history);
    const witnessed = [...violations, ...unjudged].filter(({ kind }) => kind === "overlap").length;
    const timeline = new Timeline();
    for (const seen of workLines(history, "default/chaos", 1_000_000)) timeline.observe(seen);
    const summary = overlapsIn(timeline.elections.get("default/chaos") as ElectionLine, timeline.nowMs);
    expect(summary).toMatchObject({ source: "witness", terms: terms.length });
    expect(summary.overlaps).toHaveLength(witnessed);
  });
});
