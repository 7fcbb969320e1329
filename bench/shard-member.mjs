// @ts-check
/**
 * A member of a set of shards that prints what it owns to stdout as JSON lines. The counterpart of bench/knative: same flags, same lines.
 *
 *     node bench/shard-member.mjs --kubeconfig FILE --namespace NS --name NAME --id ID --count N
 */
import { writeSync } from "node:fs";
import { parseArgs } from "node:util";
import { Shards } from "@tenure/election";

const text = /** @type {const} */ ({ type: "string", default: "" });
const {
  values: { kubeconfig, namespace, name, id, count },
} = parseArgs({ options: { kubeconfig: text, namespace: text, name: text, id: text, count: text } });

const shutdown = new AbortController();
process.once("SIGTERM", () => shutdown.abort());
const shards = new Shards({ kubeconfig, namespace, name, identity: id, count: Number(count) });
shards.on("error", ({ error }) => console.error(error.message));

/** @param {string} event @param {number} shard */
function print(event, shard) {
  // CLOCK_MONOTONIC: shared by all processes of this machine, and never set.
  const monoMs = Number(process.hrtime.bigint()) / 1e6;
  writeSync(1, `${JSON.stringify({ event, monoMs, id, shard })}\n`);
}

await shards.run(
  async (shard, term) => {
    print("owned", shard.index);
    if (!term.signal.aborted)
      await new Promise((resolve) => term.signal.addEventListener("abort", resolve, { once: true }));
    print("dropped", shard.index);
  },
  { signal: shutdown.signal },
);
