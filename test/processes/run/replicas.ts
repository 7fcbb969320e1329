/** Runs the built command as a process. Gives access to its log, its output and its remaining processes. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe as describeProcess, isAlive, marked, markVariable, watchdogsOf } from "./survivors.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const command = `${root}packages/cli/bin/tenure.cjs`;

/** A JSON line of the log. */
interface Line {
  readonly event: string;
  readonly msg: string;
  readonly time: string;
  readonly [fact: string]: unknown;
}

interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
  /** The processes of the command and of its child that still ran at the exit. */
  readonly survivors: string[];
}

export interface Replica {
  readonly pid: number;
  readonly lines: Line[];
  /** Lines that the child printed. */
  readonly printed: string[];
  /** The lines on stderr that are not JSON. */
  readonly stderrLines: string[];
  readonly exit: Promise<Exit>;
  /** Waits for a log line with this event and these facts, and resolves with the first. */
  logged(event: string, facts?: Readonly<Record<string, unknown>>): Promise<Line>;
  /** Waits until the child has printed this text. */
  hasPrinted(text: string): Promise<void>;
  /** The phases so far, from the first. */
  phases(): string[];
  kill(signal: NodeJS.Signals): void;
  /** The pids of all processes that it started. */
  descendants(): number[];
}

/** For tests that wait until a lease expires. A busy machine may lose such a lease. */
export const shortLease = ["--lease-duration", "2s", "--renew-deadline", "1.2s", "--retry-period", "300ms"];

/** Throws if the build is older than the sources, because these tests run the build. */
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
      throw new Error(`The build of packages/${name} is older than its sources; run \`npm run build\`.`);
    // The command runs from its bundle.
    if (
      name === "cli" &&
      newest(`${folder}/dist`, (path) => path.endsWith(".js")) > newest(`${folder}/bundle`, () => true)
    )
      throw new Error("The bundle of the command is older than its build; run `npm run build`.");
  }
}

const running = new Set<ChildProcess>();
const marks = new Set<string>();

/** Kills the processes that a failed test left behind. */
export function endAll(): void {
  for (const child of running) child.kill("SIGKILL");
  for (const pid of [...marks].flatMap(marked)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It exited by itself.
    }
  }
  marks.clear();
}

/** How long reading the rest of the output may take after the exit. */
const flushedWithinMs = 1_000;

const withinMs = 15_000;

/** The command with these arguments, for a shell. */
export function shellCommand(args: readonly string[]): string {
  return [process.execPath, command, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
}

/**
 * @param args none if the prefix already contains the command
 * @param prefix a command that runs it, for example unshare; `pid` is then the pid of that command
 */
export function startTenure(
  args: readonly string[],
  env: Record<string, string> = {},
  prefix: readonly string[] = [],
): Replica {
  const mark = randomUUID();
  const [program = "", ...words] = [
    ...prefix,
    ...(args.length > 0 ? [process.execPath, command, ...args] : []),
  ];
  const child = spawn(program, words, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, HOME: "/nonexistent", [markVariable]: mark, ...env },
  });
  running.add(child);
  marks.add(mark);
  const pid = child.pid as number;
  const lines: Line[] = [];
  const printed: string[] = [];
  const stderrLines: string[] = [];
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const look of waiting) look();
  };
  createInterface({ input: child.stdout }).on("line", (line) => {
    // Does not keep all the output of a child that floods it.
    if (printed.length < 1_000) printed.push(line);
    wake();
  });
  createInterface({ input: child.stderr }).on("line", (line) => {
    const parsed = line.startsWith("{") ? (JSON.parse(line) as Line) : undefined;
    if (parsed) lines.push(parsed);
    else stderrLines.push(line);
    wake();
  });
  const survivors = () => [...new Set([...marked(mark), ...watchdogsOf(pid)])].map(describeProcess);
  const exit = new Promise<Exit>((resolve) => {
    const closed = new Promise<void>((done) => void child.once("close", () => done()));
    child.once("exit", async (code, signal) => {
      // At the exit, before the pipes are closed: a process that still holds them is a survivor.
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
          reject(
            new Error(`missing: ${what}; found: ${JSON.stringify({ lines, printed, stderrLines }, null, 1)}`),
          ),
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
    stderrLines,
    exit,
    async logged(event, facts = {}) {
      const matches = (line: Line) =>
        line.event === event && Object.entries(facts).every(([name, value]) => line[name] === value);
      await until(`${event} ${JSON.stringify(facts)}`, () => lines.some(matches));
      return lines.find(matches) as Line;
    },
    hasPrinted: (text) => until(`prints ${text}`, () => printed.some((line) => line.includes(text))),
    phases: () => lines.filter(({ event }) => event === "phase").map(({ phase }) => phase as string),
    kill: (signal) => void child.kill(signal),
    descendants: () => marked(mark).filter((other) => other !== pid && isAlive(other)),
  };
}
