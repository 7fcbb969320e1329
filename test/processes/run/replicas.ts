/** The built command as a process, what it said, and what is left of it. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe as describeProcess, isAlive, marked, markVariable, watchdogsOf } from "./survivors.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const command = `${root}packages/cli/bin/tenure.mjs`;

/** A JSON line of the command's log. */
export interface Line {
  readonly event: string;
  readonly msg: string;
  readonly time: string;
  readonly [fact: string]: unknown;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
  /** What is left of it and of its child, in words. */
  readonly survivors: string[];
}

export interface Replica {
  readonly pid: number;
  readonly lines: Line[];
  /** Lines that the child printed. */
  readonly printed: string[];
  /** What was said on stderr and is no JSON line. */
  readonly complaints: string[];
  readonly exit: Promise<Exit>;
  /** The first line with that event, and with these facts; fails when it does not come in time. */
  said(event: string, facts?: Readonly<Record<string, unknown>>): Promise<Line>;
  /** The child printed this. */
  prints(text: string): Promise<void>;
  /** The phases so far, from the first. */
  phases(): string[];
  kill(signal: NodeJS.Signals): void;
  /** The pids of everything that was started for it, but not its own. */
  family(): number[];
}

/** A short lease, so that a test does not take long. */
export const shortLease = ["--lease-duration", "2s", "--renew-deadline", "1.2s", "--retry-period", "300ms"];

/** Processes run what was built: it must be what is written. */
export function checkRunBuild(): void {
  const newest = (folder: string, wanted: (path: string) => boolean) =>
    Math.max(
      ...readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter(wanted)
        .map((path) => statSync(`${folder}/${path}`).mtimeMs),
    );
  for (const name of ["supervisor", "cli"]) {
    const folder = `${root}packages/${name}`;
    const isShipped = (path: string) =>
      path.endsWith(".ts") && !path.endsWith(".test.ts") && !path.includes("testing");
    if (newest(`${folder}/src`, isShipped) > newest(`${folder}/dist`, () => true))
      throw new Error(`packages/${name} is older than its sources: npm run build`);
  }
}

const running = new Set<ChildProcess>();
const marks = new Set<string>();

/** Ends what a failed test left behind. */
export function endAll(): void {
  for (const child of running) child.kill("SIGKILL");
  for (const pid of [...marks].flatMap(marked)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended by itself.
    }
  }
  marks.clear();
}

/** How long the rest of what was printed may take to be read after the end. */
const flushedWithinMs = 1_000;

const withinMs = 15_000;

/** @param prefix what it is run by, such as unshare; then `pid` is that one's */
export function startTenure(
  args: readonly string[],
  env: Record<string, string> = {},
  prefix: readonly string[] = [],
): Replica {
  const mark = randomUUID();
  const [program = "", ...words] = [...prefix, process.execPath, command, ...args];
  const child = spawn(program, words, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, HOME: "/nonexistent", [markVariable]: mark, ...env },
  });
  running.add(child);
  marks.add(mark);
  const pid = child.pid as number;
  const lines: Line[] = [];
  const printed: string[] = [];
  const complaints: string[] = [];
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const look of waiting) look();
  };
  createInterface({ input: child.stdout }).on("line", (line) => {
    // A flood is not kept.
    if (printed.length < 1_000) printed.push(line);
    wake();
  });
  createInterface({ input: child.stderr }).on("line", (line) => {
    const parsed = line.startsWith("{") ? (JSON.parse(line) as Line) : undefined;
    if (parsed) lines.push(parsed);
    else complaints.push(line);
    wake();
  });
  const survivors = () => [...new Set([...marked(mark), ...watchdogsOf(pid)])].map(describeProcess);
  const exit = new Promise<Exit>((resolve) => {
    const closed = new Promise<void>((done) => void child.once("close", () => done()));
    child.once("exit", async (code, signal) => {
      // Now, and not when all pipes are closed: whoever still holds them is a survivor.
      const left = survivors();
      await Promise.race([closed, new Promise((done) => setTimeout(done, flushedWithinMs))]);
      running.delete(child);
      resolve({ code, signal, survivors: left });
      wake();
    });
  });
  const until = (what: string, find: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      const settle = (act: () => void) => {
        clearTimeout(timer);
        waiting.delete(look);
        act();
      };
      const fail = () =>
        settle(() =>
          reject(new Error(`never: ${what}, but ${JSON.stringify({ lines, printed, complaints }, null, 1)}`)),
        );
      const look = () => {
        if (find()) settle(resolve);
        else if (!running.has(child)) fail();
      };
      const timer = setTimeout(fail, withinMs);
      waiting.add(look);
      look();
    });
  return {
    pid,
    lines,
    printed,
    complaints,
    exit,
    async said(event, facts = {}) {
      const matches = (line: Line) =>
        line.event === event && Object.entries(facts).every(([name, value]) => line[name] === value);
      await until(`${event} ${JSON.stringify(facts)}`, () => lines.some(matches));
      return lines.find(matches) as Line;
    },
    prints: (text) => until(`prints ${text}`, () => printed.some((line) => line.includes(text))),
    phases: () => lines.filter(({ event }) => event === "phase").map(({ phase }) => phase as string),
    kill: (signal) => void child.kill(signal),
    family: () => marked(mark).filter((other) => other !== pid && isAlive(other)),
  };
}
