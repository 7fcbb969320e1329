/** `npm run demo` as somebody without a terminal runs it: as a process, to the end and interrupted. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readRecording, Timeline } from "@tenure/ui";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const withinMs = 180_000;
let folder: string;
let demo: ChildProcess | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenure-demo-test-"));
});

afterEach(async () => {
  demo?.kill("SIGKILL");
  for (const pid of strays()) process.kill(pid, "SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

/** Everything that has the folder in its environment was started by the demo. */
function strays(): number[] {
  if (!existsSync("/proc/self/environ")) return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/environ`, "utf8").includes(`TMPDIR=${folder}`);
      } catch {
        return false;
      }
    })
    .map(Number);
}

const program = "examples/demo/main.mjs";
/** It makes the terminal; Node cannot. */
const hasPython = spawnSync("python3", ["--version"]).status === 0;

function start(...args: string[]) {
  return watch(spawn(process.execPath, [program, ...args], options("ignore")));
}

/** On a terminal: what is written to its stdin are keys. */
function startLive() {
  const onTerminal = `import pty, sys; sys.exit(pty.spawn(["${process.execPath}", "${program}"]) >> 8)`;
  return watch(spawn("python3", ["-c", onTerminal], options("pipe")));
}

function options(stdin: "ignore" | "pipe") {
  const stdio: ["ignore" | "pipe", "pipe", "inherit"] = [stdin, "pipe", "inherit"];
  return { cwd: root, env: { ...process.env, TMPDIR: folder, NO_COLOR: "1" }, stdio };
}

function watch(child: ChildProcess) {
  demo = child;
  let text = "";
  const listeners = new Set<() => void>();
  child.stdout?.on("data", (chunk) => {
    text += chunk;
    for (const listener of listeners) listener();
  });
  const says = (words: string) =>
    new Promise<void>((resolve) => {
      const look = () => text.includes(words) && resolve();
      listeners.add(look);
      look();
    });
  return { child, says, text: () => text, exited: once(child, "exit") };
}

describe("npm run demo without a terminal", () => {
  it("steps the leader down, kills it, cuts its network and freezes it; nothing is lost and nothing left running", {
    timeout: withinMs,
  }, async () => {
    const recording = `${folder}.ndjson`;
    const { text, exited } = start("--record", recording);
    expect(await exited).toEqual([0, null]);
    expect(text()).toMatch(/see the terms at http:\/\/127\.0\.0\.1:\d+\/#token=\S+/);
    const { observations } = readRecording(await readFile(recording, "utf8"), recording);
    await rm(recording);
    const timeline = new Timeline();
    for (const seen of observations) timeline.observe(seen);
    expect(timeline.elections.get("default/orders")?.terms.length).toBeGreaterThanOrEqual(5);
    const figure = (name: string) => new RegExp(`^${name} +(.*)$`, "m").exec(text())?.[1];
    expect(figure("handovers")).toMatch(
      /^4: \w → \w \d+ ms \(stepped down\), .*\(killed\), .*\(network cut\), .*\(frozen\)$/,
    );
    expect(figure("lost")).toBe("0");
    expect(figure("finished twice")).toBe("0");
    expect(text().trim().split("\n").at(-1)).toBe("all processes have exited");
    expect(strays()).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([
    ["SIGINT", 130, "--- killing"],
    ["SIGTERM", 143, "--- freezing"],
    ["SIGINT", 130, ""],
  ] as const)(
    "interrupted by %s (exit code %i) after %j, leaves nothing",
    { timeout: withinMs },
    async (signal, code, when) => {
      const { child, says, text, exited } = start("--script");
      if (when) await says(when);
      else while (strays().length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
      child.kill(signal);
      expect(await exited).toEqual([code, null]);
      expect(text().trim().split("\n").at(-1)).toBe("all processes have exited");
      expect(strays()).toEqual([]);
      expect(await readdir(folder)).toEqual([]);
    },
  );

  it("as a Deployment it rolls out, loses its leader and is scaled; nothing is lost and nothing left running", {
    timeout: withinMs,
  }, async () => {
    const { text, exited } = start("--cluster");
    expect(await exited).toEqual([0, null]);
    expect(text()).toMatch(
      /kubectl rollout restart deployment\/orders\n[\s\S]* leads: \d+ ms after the last order of /,
    );
    expect(text()).toMatch(/ \d+ handovers; (\d+) of \1 orders finished, 0 of them twice\n$/);
    expect(strays()).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });

  it("refuses flags that make no sense", async () => {
    const { exited } = start("--lease", "0.5");
    expect(await exited).toEqual([2, null]);
  });
});

describe.skipIf(!hasPython)("npm run demo on a terminal", () => {
  it("shows the leader, does as the keys say, and gives the terminal back", {
    timeout: withinMs,
  }, async () => {
    const { child, says, text, exited } = startLive();
    await says("renewed");
    while (!/orders {2}[1-9]\d*\/s/.test(text())) await new Promise((resolve) => setTimeout(resolve, 20));
    child.stdin?.write("s");
    await says("ms  stepped down");
    child.stdin?.write("q");
    await says("all processes have exited");
    child.stdin?.end();
    expect(await exited).toEqual([0, null]);
    expect(text()).toMatch(/handovers {8}1: \w → \w \d+ ms \(stepped down\)/);
    expect(text().lastIndexOf("\u001b[?25h")).toBeGreaterThan(text().lastIndexOf("\u001b[?25l"));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escapes are what is looked for
    expect(text()).not.toMatch(/\u001b\[\d+m/);
    expect(strays()).toEqual([]);
  });
});

it("explains itself, and a mistake in a flag is one sentence above that", () => {
  const run = (flag: string) =>
    spawnSync(process.execPath, [program, flag], { cwd: root, encoding: "utf8", timeout: withinMs });
  expect(run("--help")).toMatchObject({
    status: 0,
    stderr: "",
    stdout: expect.stringContaining("--cluster"),
  });
  const { status, stdout, stderr } = run("--scirpt");
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/^Unknown option '--scirpt'.*\n\nRuns the whole system/);
  expect(stderr).not.toMatch(/^\s+at /m);
});
