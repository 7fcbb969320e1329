// @ts-check
/** The time from process start to leading, on a Lease that does not exist yet, compared with bare node. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { kinds } from "../lib/candidates.mjs";
import { monoMs } from "../lib/clock.mjs";
import { median } from "../lib/statistics.mjs";

/** @type {import("./scenario.mjs").Scenario} */
export const start = {
  name: "start",
  async run({ candidates, rounds = 21, namespace, report }) {
    const name = await namespace("start");
    /** @type {Record<"bare" | import("../lib/candidates.mjs").Kind, number[]>} */
    const samples = { bare: [], ours: [], "client-go": [] };
    report(`start: ${rounds} processes of each kind, alternating`);
    for (let round = 0; round < rounds; round++) {
      samples.bare.push(await bareNode());
      for (const kind of kinds) {
        const candidate = candidates.start(kind, { namespace: name, name: `${kind}-${round}` });
        const { monoMs: leadsMs } = await candidate.leads();
        samples[kind].push(leadsMs - candidate.startedMs);
        await candidate.kill();
      }
    }
    const bare = median(samples.bare);
    return [
      {
        scenario: "start",
        figure: "process start to leading, p50",
        unit: "ms",
        ours: median(samples.ours),
        clientGo: median(samples["client-go"]),
        floor: bare,
        atMost: 2 * bare,
        samples: rounds,
        note: "the floor is `node -e 0`, from start to exit",
      },
    ];
  },
};

async function bareNode() {
  const startedMs = monoMs();
  const child = spawn(process.execPath, ["-e", "0"], { stdio: "ignore" });
  await once(child, "exit");
  return monoMs() - startedMs;
}
