/** The recipes for Express and Fastify: what their probes and requests answer, on the leader and on a standby. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Sandbox, startSandbox } from "@tenure/sandbox";
import { afterEach, beforeEach, expect, it } from "vitest";
import { root } from "./idioms.mjs";

let sandbox: Sandbox;
let folder: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  sandbox = await startSandbox();
  folder = await mkdtemp(join(tmpdir(), "tenure-servers-"));
  await sandbox.writeKubeconfig(join(folder, "kubeconfig"));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await sandbox.close();
  await rm(folder, { recursive: true });
});

async function start(program: string, name: string) {
  const env = { ...process.env, PORT: "0", KUBECONFIG: join(folder, "kubeconfig") };
  const child = spawn(process.execPath, [program, name], {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const port = await new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [, found] = /listens on (\d+)$/.exec(line) ?? [];
      if (found) resolve(found);
    });
  });
  const ask = async (path: string, method = "GET") => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method });
    return { status: response.status, body: await response.json() };
  };
  return { child, ask };
}

it.each(["express", "fastify"])(
  "%s: only the leader is ready and sends reports, and the next one after it stopped",
  {
    timeout: 120_000,
  },
  async (name) => {
    const program = `examples/${name}/${name}.mjs`;
    const a = await start(program, "a");
    await expect.poll(() => a.ask("/readyz")).toEqual({ status: 200, body: { leader: "a" } });
    const b = await start(program, "b");
    await expect.poll(() => b.ask("/readyz")).toEqual({ status: 503, body: { leader: "a" } });
    expect((await b.ask("/healthz")).status).toBe(200);
    expect(await b.ask("/reports", "POST")).toEqual({
      status: 503,
      body: { reason: "not-leading", leader: "a" },
    });
    expect(await a.ask("/reports", "POST")).toEqual({ status: 200, body: { completed: true } });
    const exited = once(a.child, "exit");
    a.child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
    await expect.poll(() => b.ask("/readyz")).toEqual({ status: 200, body: { leader: "b" } });
  },
);
