// @ts-check
/** One replica: an election whose work is a child process. Its parent can tell it over IPC to block its event loop. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Election, LeaseLock } from "@tenure/election";
import { KubeClient, loadConfig } from "@tenure/kube";

const { id, name, kubeconfig, sharesWatch, witnessPort, timings } = JSON.parse(process.argv[2] ?? "");
const shutdown = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => shutdown.abort());
process.on("disconnect", () => process.exit(1));
process.on("message", (/** @type {{ blockMs: number }} */ { blockMs }) => {
  const endMs = performance.now() + blockMs;
  while (performance.now() < endMs);
});

const access = sharesWatch
  ? { client: new KubeClient(() => loadConfig({ kubeconfig })), shareWatch: true }
  : { kubeconfig };
const election = new Election({
  lock: new LeaseLock({ namespace: "default", name, ...access }),
  identity: id,
  // The test deletes the Lease, and starts replicas at any time.
  waitWhenAbsent: true,
  ...timings,
});

await election.run(
  async (term) => {
    const worker = spawn(
      process.execPath,
      [fileURLToPath(new URL("./worker.mjs", import.meta.url)), id, String(term.token), String(witnessPort)],
      // The wall clock of the candidate may be wrong. The worker reads only the monotonic clock, so it needs no fake one.
      { stdio: ["pipe", "ignore", "inherit"], env: { ...process.env, LD_PRELOAD: "" } },
    );
    const exited = once(worker, "exit");
    worker.stdin.on("error", () => {});
    process.send?.({ started: worker.pid });
    const sendDeadline = () => {
      const [seconds, nanos] = process.hrtime();
      worker.stdin.write(`${seconds * 1_000 + nanos / 1e6 + term.remainingMs()}\n`);
    };
    sendDeadline();
    const stopListening = election.on("renewed", sendDeadline);
    await Promise.race([exited, once(term.signal, "abort")]);
    stopListening();
    worker.kill("SIGKILL");
    await exited;
  },
  { signal: shutdown.signal },
);
process.exit(0);
