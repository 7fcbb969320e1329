// @ts-check
/** One replica: an election whose work is a child process. Told by its parent, on IPC, to block its event loop. */
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
  // Leases are deleted here, and replicas start at any time.
  waitWhenAbsent: true,
  ...timings,
});

await election.run(
  async (term) => {
    const worker = spawn(
      process.execPath,
      [fileURLToPath(new URL("./worker.mjs", import.meta.url)), id, String(term.token), String(witnessPort)],
      // The clock of the candidate may be a wrong one; the worker asks the monotonic one, and needs no other.
      { stdio: ["pipe", "ignore", "inherit"], env: { ...process.env, LD_PRELOAD: "" } },
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
