// @ts-check
/**
 * A replica that uses the library: an election whose work is a child process. Its parent can tell it over IPC to block its
 * event loop.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Election, LeaseLock } from "@tenure/election";
import { EtcdLock } from "@tenure/etcd";
import { KubeClient, loadConfig } from "@tenure/kube";
import { PostgresLock } from "@tenure/postgres";
import { HistoryFile, nowMs } from "../history/history.mjs";

const { id, name, kubeconfig, lockUrl, sharesWatch, timings } = JSON.parse(process.argv[2] ?? "");
const history = new HistoryFile(process.env.TENURE_CHAOS_HISTORY ?? "");
const shutdown = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => shutdown.abort());
process.on("disconnect", () => process.exit(1));
process.on("message", (/** @type {{ blockMs: number }} */ { blockMs }) => {
  const endMs = performance.now() + blockMs;
  while (performance.now() < endMs);
});

function newLock() {
  if (lockUrl?.startsWith("postgres:")) return new PostgresLock({ name, url: lockUrl });
  if (lockUrl) return new EtcdLock({ name, endpoints: [lockUrl.replace("etcd:", "http:")] });
  const access = sharesWatch
    ? { client: new KubeClient(() => loadConfig({ kubeconfig })), shareWatch: true }
    : { kubeconfig };
  return new LeaseLock({ namespace: "default", name, ...access });
}

const election = new Election({
  lock: newLock(),
  identity: id,
  // The test deletes the Lease, and starts replicas at any time.
  waitWhenAbsent: true,
  ...timings,
});

await election.run(
  async (term) => {
    const token = String(term.token);
    const worker = spawn(process.execPath, [fileURLToPath(new URL("./worker.mjs", import.meta.url))], {
      stdio: ["pipe", "ignore", "inherit"],
      // The wall clock of the candidate may be wrong. The worker reads only the monotonic clock, so it needs no fake one.
      env: { ...process.env, LD_PRELOAD: "", TENURE_IDENTITY: id, TENURE_TOKEN: token },
    });
    const exited = once(worker, "exit");
    worker.stdin.on("error", () => {});
    process.send?.({ started: worker.pid });
    const sendDeadline = () => {
      // The clock is read first: a process that is frozen in between sends a deadline that is too early.
      const atMs = nowMs();
      worker.stdin.write(`${atMs + term.remainingMs()}\n`);
    };
    sendDeadline();
    const stopListening = election.on("renewed", sendDeadline);
    await Promise.race([exited, once(term.signal, "abort")]);
    stopListening();
    worker.kill("SIGKILL");
    await exited;
    history.append({ kind: "ended", id, token, atMs: nowMs() });
  },
  { signal: shutdown.signal },
);
process.exit(0);
