/** Starts replicas as processes of the built package, and reads what they print. */
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

interface Line {
  readonly what: string;
  readonly at: number;
  readonly id: string;
  readonly [fact: string]: unknown;
}

interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stderr: string;
  readonly at: number;
}

export interface ReplicaProcess {
  readonly lines: Line[];
  readonly exit: Promise<Exit>;
  /** The first such line from the time `since` on. Rejects if there is none in time. */
  printed(what: string, options?: { readonly since?: number; readonly withinMs?: number }): Promise<Line>;
  send(command: string): void;
  kill(signal: NodeJS.Signals): void;
}

/** A short lease, renewed every 400 ms. The hard deadline is 1.88 s after the last confirmed write was sent. */
const shortLease = { leaseDuration: "2s", renewDeadline: "1.4s", retryPeriod: "300ms" };
export const hardDeadlineMs = 1_880;

/** The processes run the built packages, so the build must be up to date. */
export function checkBuild(): void {
  for (const name of ["core", "kube", "election"]) {
    const folder = `${root}packages/${name}`;
    const sources = readdirSync(`${folder}/src`, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !path.includes("testing"))
      .map((path) => statSync(`${folder}/src/${path}`).mtimeMs);
    const builtAt = statSync(`${folder}/bundle/index.js`, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (Math.max(...sources) > builtAt)
      throw new Error(`packages/${name} has sources that are newer than its build. Run npm run build`);
  }
}

const running = new Set<ChildProcess>();

/** Kills the processes that a failed test left running. */
export function endAll(): void {
  for (const child of running) child.kill("SIGKILL");
}

export function startReplica(options: object): ReplicaProcess {
  const script = fileURLToPath(new URL("replica.mjs", import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify({ ...shortLease, ...options })], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  running.add(child);
  const lines: Line[] = [];
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const check of waiting) check();
  };
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(JSON.parse(line) as Line);
    wake();
  });
  let stderr = "";
  child.stderr.on("data", (chunk) => (stderr += chunk));
  const exit = new Promise<Exit>((resolve) => {
    child.once("close", (code, signal) => {
      running.delete(child);
      resolve({ code, signal, stderr, at: Date.now() });
      wake();
    });
  });
  const printed: ReplicaProcess["printed"] = (what, { since = 0, withinMs = 8_000 } = {}) =>
    new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        clearTimeout(timer);
        waiting.delete(check);
        act();
      };
      const fail = () =>
        settle(() =>
          reject(
            new Error(
              `no line "${what}" in time. Last lines: ${JSON.stringify(lines.slice(-8))}. Stderr: ${stderr}`,
            ),
          ),
        );
      const check = () => {
        const line = lines.find((candidate) => candidate.what === what && candidate.at >= since);
        if (line) settle(() => resolve(line));
        else if (!running.has(child)) fail();
      };
      const timer = setTimeout(fail, withinMs);
      waiting.add(check);
      check();
    });
  return {
    lines,
    exit,
    printed,
    send: (command) => void child.stdin.write(`${command}\n`),
    kill: (signal) => void child.kill(signal),
  };
}
