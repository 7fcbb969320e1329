// @ts-check
/** One replica: an election whose work is a child process. Told by its parent, on IPC, to block its event loop. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Election, LeaseLock } from "@tenure/election";

const { id, name, kubeconfig, witnessPort, timings } = JSON.parse(process.argv[2] ?? "");
const shutdown = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => shutdown.abort());
process.on("disconnect", () => process.exit(1));
process.on("message", (/** @type {{ blockMs: number }} */ { blockMs }) => {
  const endMs = performance.now() + blockMs;
  while (performance.now() < endMs);
});

const election = new Election({
  lock: new LeaseLock({ namespace: "default", name, kubeconfig }),
  identity: id,
  // Leases are deleted here, and replicas start at any time.
  waitWhenAbsent: true,
  ...timings,
});

await election.run(
  async (term) => {
    const worker = spawn(
      process.execPath,
      [fileURLToPath(new URL("./worker.mjs", import.meta.url)), id, String(term.token), String(witnessPort)],
      { stdio: ["pipe", "ignore", "inherit"] },
    );
    const gone = once(worker, "exit");
    worker.stdin.on("error", () => {});
    process.send?.({ started: worker.pid });
    const tell = () => {
      const [seconds, nanos] = process.hrtime();
      worker.stdin.write(`${seconds * 1_000 + nanos / 1e6 + term.remainingMs()}\n`);
    };
    tell();
    const off = election.on("renewed", tell);
    await Promise.race([gone, once(term.signal, "abort")]);
    off();
    worker.kill("SIGKILL");
    await gone;
  },
  { signal: shutdown.signal },
);
process.exit(0);
