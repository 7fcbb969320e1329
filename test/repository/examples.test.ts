/** The examples as a newcomer runs them: as processes, against the sandbox, with nothing else there. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Sandbox, startSandbox } from "@tenure/sandbox";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

const readme = readFileSync(join(root, "README.md"), "utf8");
const blocks = [...readme.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code as string);

let sandbox: Sandbox;
let folder: string;
let children: ChildProcess[];

beforeEach(async () => {
  sandbox = await startSandbox();
  folder = await mkdtemp(join(tmpdir(), "tenure-examples-"));
  await sandbox.writeKubeconfig(join(folder, "kubeconfig"));
  children = [];
});

afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  await sandbox.close();
  await rm(folder, { recursive: true });
});

/** A process and what it printed; `says` waits for a line. */
function start(...args: string[]) {
  const env = { ...process.env, KUBECONFIG: join(folder, "kubeconfig") };
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  const lines: string[] = [];
  const listeners = new Set<() => void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    for (const listener of listeners) listener();
  });
  const says = (text: string) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (lines.some((line) => line.includes(text))) resolve();
      };
      listeners.add(look);
      look();
    });
  return { child, lines, says };
}

describe("examples/elect", () => {
  it("has one that leads, and another one after that was stopped", async () => {
    const a = start("examples/elect/elect.mjs", "a");
    await a.says("a leads with token");
    const b = start("examples/elect/elect.mjs", "b");
    const c = start("examples/elect/elect.mjs", "c");
    await Promise.all([b.says("leader: a"), c.says("leader: a")]);
    expect([...b.lines, ...c.lines]).not.toContain("working");

    a.child.kill("SIGINT");
    const [code] = await once(a.child, "exit");
    expect(code).toBe(0);
    expect(a.lines.slice(-2)).toEqual(["stopped working", "leader: nobody"]);
    await Promise.race([b.says("b leads with token"), c.says("c leads with token")]);
    const leaders = [b, c].filter(({ lines }) => lines.some((line) => line.includes("leads with token")));
    expect(leaders).toHaveLength(1);
  });

  it("is what the README shows", () => {
    expect(blocks[0]).toBe(readFileSync(join(root, "examples/elect/elect.mjs"), "utf8"));
  });
});

it("npx tenure finds the command in a clone", async () => {
  const child = spawn(join(root, "node_modules/.bin/tenure"), ["sandbox", "--help"], { stdio: "ignore" });
  children.push(child);
  expect(await once(child, "exit")).toEqual([0, null]);
});

it("the README's other programs run as they stand", async () => {
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  for (const block of blocks.slice(1)) {
    await writeFile(join(folder, "program.mjs"), block);
    const child = spawn(process.execPath, ["program.mjs"], { cwd: folder, stdio: "inherit" });
    children.push(child);
    expect(await once(child, "exit")).toEqual([0, null]);
  }
});
