// @ts-check
/** From the start of a process to its leading, on a Lease that does not exist yet; beside a node that does nothing. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { monoMs } from "../lib/clock.mjs";
import { kinds } from "../lib/contestants.mjs";
import { median } from "../lib/statistics.mjs";

/** @type {import("./stage.mjs").Race} */
export const start = {
  name: "start",
  async run({ contestants, rounds = 21, namespace, report }) {
    const name = await namespace("start");
    /** @type {Record<"bare" | import("../lib/contestants.mjs").Kind, number[]>} */
    const samples = { bare: [], ours: [], "client-go": [] };
    report(`start: ${rounds} processes of each kind in turn`);
    for (let round = 0; round < rounds; round++) {
      samples.bare.push(await bareNode());
      for (const kind of kinds) {
        const contestant = contestants.start(kind, { namespace: name, name: `${kind}-${round}` });
        const { monoMs: leadsMs } = await contestant.leads();
        samples[kind].push(leadsMs - contestant.startedMs);
        await contestant.kill();
      }
    }
    const bare = median(samples.bare);
    return [
      {
        race: "start",
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
