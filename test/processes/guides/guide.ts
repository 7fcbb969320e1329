/**
 * Follows the README of a guide as a reader would: its blocks of commands are run as they stand, in terminals, against the
 * cluster of TENURE_CONFORMANCE_KUBECONFIG or a sandbox. At the end every block must have been run, so that a guide cannot
 * say something that was not tried.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { startSandbox } from "@tenure/sandbox";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Why the guides cannot be followed here; undefined where they can. */
export const whyNot =
  spawnSync("kubectl", ["version", "--client"]).status === 0 ? undefined : "kubectl is not on PATH";
if (whyNot) console.warn(`${whyNot}: the guides are not followed`);

/** The cluster to use instead of a sandbox. It has no nodes. */
const clusterKubeconfig = process.env.TENURE_CONFORMANCE_KUBECONFIG;

/** Why a guide cannot be followed here whose pods run. */
export const whyNoPods = whyNot ?? (clusterKubeconfig && "the cluster has no nodes");

const deadlineMs = 60_000;

export interface Terminal {
  /** All that it printed. */
  readonly lines: string[];
  /** Waits for a line from `since` on, and returns where it is. */
  says(text: string | RegExp, since?: number): Promise<number>;
  /** Ctrl-C. */
  interrupt(): void;
  kill(signal: NodeJS.Signals): void;
  readonly exitCode: Promise<number | null>;
}

export class Guide {
  readonly #folder: string;
  readonly #home: string;
  readonly #work: string;
  readonly #stop: () => Promise<void>;
  readonly #setsKubeconfig: boolean;
  readonly #text: string;
  readonly #blocks: readonly string[];
  readonly #followed = new Set<number>();
  readonly #terminals: ChildProcess[] = [];

  /** @param setsKubeconfig the page itself says how to set KUBECONFIG, so it is not set */
  constructor(page: string, home: string, work: string, stop: () => Promise<void>, setsKubeconfig = false) {
    this.#folder = dirname(page);
    this.#setsKubeconfig = setsKubeconfig;
    this.#home = home;
    this.#work = work;
    this.#stop = stop;
    this.#text = readFileSync(join(root, page), "utf8");
    this.#blocks = this.programs("sh");
  }

  /** The block that begins with these words, which only one does; noted as followed. */
  block(beginning: string): string {
    const found = this.#blocks.flatMap((code, index) => (code.startsWith(beginning) ? [index] : []));
    if (found.length !== 1)
      throw new Error(`${found.length} blocks of ${this.#folder} begin with: ${beginning}`);
    const [index] = found as [number];
    this.#followed.add(index);
    return this.#blocks[index] as string;
  }

  /** The programs of the page in a language. */
  programs(language: string): string[] {
    const pattern = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g");
    return [...this.#text.matchAll(pattern)].map(([, code]) => code as string);
  }

  /** Runs a block to its end; resolves with what it printed, rejects if it fails. */
  async run(beginning: string): Promise<string> {
    return this.shell(this.block(beginning));
  }

  async shell(code: string, expected = 0): Promise<string> {
    const child = this.#spawn(code);
    let out = "";
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (out += chunk));
    const [exitCode] = await once(child, "close");
    if (exitCode !== expected) throw new Error(`exit code ${exitCode} of:\n${code}\n${out}`);
    return out;
  }

  /** Starts a block in a terminal of its own. Comment lines say which, for people. */
  start(beginning: string): Terminal {
    return this.terminal(this.block(beginning));
  }

  terminal(code: string): Terminal {
    const child = this.#spawn(code);
    this.#terminals.push(child);
    const lines: string[] = [];
    const waiting = new Set<() => void>();
    const wake = () => {
      for (const look of waiting) look();
    };
    for (const stream of [child.stdout, child.stderr]) {
      if (!stream) continue;
      createInterface({ input: stream }).on("line", (line) => {
        lines.push(line);
        wake();
      });
    }
    let isOver = false;
    const exitCode = once(child, "close").then(([status]) => {
      isOver = true;
      wake();
      return status as number | null;
    });
    const says = (text: string | RegExp, since = 0) =>
      new Promise<number>((resolve, reject) => {
        const settle = (act: () => void) => {
          clearTimeout(timer);
          waiting.delete(look);
          act();
        };
        const fail = (why: string) =>
          settle(() => reject(new Error(`${why} "${text}":\n${code}\n${lines.slice(since).join("\n")}`)));
        const look = () => {
          const at = lines.findIndex((line, index) => index >= since && isIn(text, line));
          if (at >= 0) settle(() => resolve(at));
          else if (isOver) fail("it ended without saying");
        };
        const timer = setTimeout(() => fail("it did not say in time"), deadlineMs);
        waiting.add(look);
        look();
      });
    const kill = (signal: NodeJS.Signals) => {
      if (child.pid !== undefined && !isOver) process.kill(-child.pid, signal);
    };
    return { lines, says, exitCode, interrupt: () => kill("SIGINT"), kill };
  }

  /** Blocks that were not followed. */
  get left(): string[] {
    return this.#blocks.filter((_, index) => !this.#followed.has(index));
  }

  get work(): string {
    return this.#work;
  }

  get kubeconfig(): string {
    return join(this.#home, ".tenure", "sandbox.kubeconfig");
  }

  async close(): Promise<void> {
    for (const child of this.#terminals) {
      if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
        process.kill(-child.pid, "SIGKILL");
        await once(child, "close");
      }
    }
    await this.#stop();
    await rm(this.#home, { recursive: true, force: true });
  }

  /** As in a terminal: from the folder that the guide names, with its own process group for Ctrl-C. */
  #spawn(code: string): ChildProcess {
    const env = {
      ...process.env,
      HOME: this.#home,
      PATH: `${join(root, "node_modules/.bin")}:${process.env.PATH}`,
      KUBECONFIG: this.#setsKubeconfig ? undefined : this.kubeconfig,
      GUIDE: join(root, this.#folder),
    };
    // `exec` for a last command that stays, so that Ctrl-C and kill reach it and not a shell around it.
    return spawn("bash", ["-e", "-o", "pipefail", "-c", code], {
      cwd: this.#work,
      env,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
  }
}

const isIn = (text: string | RegExp, line: string) =>
  typeof text === "string" ? line.includes(text) : text.test(line);

/** The command that starts a cluster with nodes. */
const clusterBlock = "tenure sandbox --nodes 3";

/** Starts the cluster by the command of the guide, only with a port that is free. */
async function openWithNodes(page: string, home: string, work: string): Promise<Guide> {
  const guide = new Guide(page, home, work, async () => {});
  const sandbox = guide.terminal(`exec ${guide.block(clusterBlock).trim()} --port 0`);
  await sandbox.says("ready");
  return guide;
}

async function makeFolders(): Promise<{ home: string; work: string }> {
  const home = await mkdtemp(join(tmpdir(), "tenure-guide-"));
  const work = join(home, "work");
  await mkdir(join(home, ".tenure"), { recursive: true });
  await mkdir(work);
  return { home, work };
}

/** Opens a page that expects a cluster whose pods run. */
export async function openOnNodes(page: string): Promise<Guide> {
  const { home, work } = await makeFolders();
  const guide = new Guide(page, home, work, async () => {});
  const sandbox = guide.terminal(`exec ${clusterBlock} --port 0`);
  await sandbox.says("ready");
  return guide;
}

/** Opens a page that starts `tenure sandbox` itself and sets KUBECONFIG. Only the port is another one: a free one. */
export async function openWholePage(page: string): Promise<Guide> {
  const { home, work } = await makeFolders();
  const guide = new Guide(page, home, work, async () => {}, true);
  const sandbox = guide.terminal(`exec ${guide.block("tenure sandbox\n").trim()} --port 0`);
  await sandbox.says("ready");
  return guide;
}

/** @param page with the text to follow, from the root of the repository */
export async function openGuide(page: string): Promise<Guide> {
  const { home, work } = await makeFolders();
  if (readFileSync(join(root, page), "utf8").includes(`\n${clusterBlock}`))
    return openWithNodes(page, home, work);
  const given = clusterKubeconfig;
  // Stands in for `tenure sandbox`, which would take a port that may be in use.
  const sandbox = given ? undefined : await startSandbox();
  const guide = new Guide(page, home, work, async () => sandbox?.close());
  if (given) await copyFile(given, guide.kubeconfig);
  else await sandbox?.writeKubeconfig(guide.kubeconfig);
  for (const code of guide.left.filter((each) => each === "tenure sandbox\n")) guide.block(code);
  return guide;
}
