// Of all running copies of this program, exactly one works. Start it in three terminals, then stop the leader.
//   node examples/elect/elect.mjs NAME
import { setTimeout as sleep } from "node:timers/promises";
import { Election, LeaseLock } from "@tenure/election";

const shutdown = new AbortController();
for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => shutdown.abort());

const election = new Election({
  lock: new LeaseLock({ namespace: "default", name: "example" }),
  identity: process.argv[2],
});
election.on("leader-changed", ({ leader }) => console.log(`leader: ${leader ?? "nobody"}`));
election.on("error", ({ error }) => console.error(error.message));

await election.run(
  async (term) => {
    console.log(`${election.identity} leads with token ${term.token}`);
    while (term.isValid() && !term.signal.aborted) {
      console.log("working");
      await sleep(1_000, undefined, { signal: term.signal }).catch(() => {});
    }
    console.log("stopped working");
  },
  { signal: shutdown.signal },
);
