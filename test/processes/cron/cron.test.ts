/**
 * examples/cron as real processes. All replicas append to one file, so the order of its lines is the order of what they did: an
 * overlap of two jobs shows as two starts without an end between them.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, openSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Sandbox, startSandbox } from "@tenure/sandbox";
import { afterEach, beforeEach, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const handovers = Number(process.env.TENURE_CRON_HANDOVERS ?? 8);

let sandbox: Sandbox;
let folder: string;
const replicas = new Map<string, ChildProcess>();

beforeEach(async () => {
  sandbox = await startSandbox();
  folder = await mkdtemp(join(tmpdir(), "tenure-cron-"));
  await sandbox.writeKubeconfig(join(folder, "kubeconfig"));
});

afterEach(async () => {
  for (const child of replicas.values()) child.kill("SIGKILL");
  replicas.clear();
  await sandbox.close();
  await rm(folder, { recursive: true });
});

const linesOf = () => readFileSync(join(folder, "witness"), "utf8").trim().split("\n");

function start(name: string): void {
  const witness = openSync(join(folder, "witness"), "a");
  const env = { ...process.env, KUBECONFIG: join(folder, "kubeconfig") };
  const stdio = ["ignore", witness, "inherit"] as const;
  const program = "examples/cron/cron.mjs";
  replicas.set(name, spawn(process.execPath, [program, name], { cwd: root, env, stdio: [...stdio] }));
}

/** The replica whose job runs now. */
async function working(): Promise<string> {
  let found = "";
  await expect
    .poll(
      () => {
        const [name = "", ...what] = (linesOf().at(-1) ?? "").split(" ");
        found = what.join(" ") === "starts a report" && replicas.has(name) ? name : "";
        return found;
      },
      { timeout: 60_000, interval: 50 },
    )
    .not.toBe("");
  return found;
}

async function end(name: string, signal: NodeJS.Signals): Promise<void> {
  const child = replicas.get(name) as ChildProcess;
  replicas.delete(name);
  const exited = once(child, "exit");
  child.kill(signal);
  const [code] = await exited;
  if (signal === "SIGTERM") expect(code).toBe(0);
  else appendFileSync(join(folder, "witness"), `${name} was killed\n`);
}

it("jobs that are longer than a handover never overlap, and the one that runs is finished first", {
  timeout: 600_000,
}, async () => {
  for (const name of ["r0", "r1", "r2"]) start(name);
  for (let handover = 0; handover < handovers; handover++) {
    const leader = await working();
    // Every eighth leader crashes. Its successor waits for the lease to expire.
    await end(leader, handover % 8 === 7 ? "SIGKILL" : "SIGTERM");
    start(`r${handover + 3}`);
  }
  await working();
  const overlaps: string[] = [];
  let running: string | undefined;
  const leaders = new Set<string>();
  for (const line of linesOf()) {
    const [name = ""] = line.split(" ");
    if (line.endsWith("starts a report")) {
      if (running) overlaps.push(`${name} started while the job of ${running} ran`);
      running = name;
      leaders.add(name);
    } else if (running === name) running = undefined;
  }
  expect(overlaps).toEqual([]);
  expect(leaders.size).toBe(handovers + 1);
});
