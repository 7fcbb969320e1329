// @ts-check
/** A member of a set of shards. Each line of its output is one append to the history that all members share. */
import { writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Shards } from "@tenure/election";

const { id, name, count, kubeconfig, timings } = JSON.parse(process.argv[2] ?? "{}");
const shutdown = new AbortController();
process.once("SIGTERM", () => shutdown.abort());

const shards = new Shards({ name, count, namespace: "default", identity: id, kubeconfig, ...timings });
shards.on("error", () => {});

/** @param {string} what @param {number} shard @param {string} token */
function append(what, shard, token) {
  // CLOCK_MONOTONIC, which all processes of this machine share.
  const atMs = Number(process.hrtime.bigint()) / 1e6;
  writeSync(1, `${JSON.stringify({ what, id, shard, token, atMs })}\n`);
}

await shards.run(
  async (shard, term) => {
    append("start", shard.index, term.token);
    while (!term.signal.aborted) {
      await sleep(200, undefined, { signal: term.signal }).catch(() => {});
      if (term.isValid()) append("step", shard.index, term.token);
    }
    append("stop", shard.index, term.token);
  },
  { signal: shutdown.signal },
);
