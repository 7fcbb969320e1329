/** The command as a process. It runs the build output, so it builds first. */
import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const repository = fileURLToPath(new URL("../../..", import.meta.url));
const main = join(repository, "packages/cli/dist/main.js");
let home: string;

beforeAll(async () => {
  const compiler = join(repository, "node_modules/.bin/tsc");
  await promisify(execFile)(compiler, ["-b", join(repository, "packages/cli")]);
  home = await mkdtemp(join(tmpdir(), "tenure-main-"));
}, 60_000);
afterAll(() => rm(home, { recursive: true, force: true }));

function start(...args: string[]) {
  const child = spawn(process.execPath, [main, ...args], { env: { ...process.env, HOME: home } });
  let out = "";
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const line = new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      out += chunk;
      if (out.includes("\n")) resolve(out.slice(0, out.indexOf("\n")));
    });
    void ended.then(() => reject(new Error("it ended")));
  });
  return { child, line, ended };
}

test.each(["SIGTERM", "SIGINT"] as const)(
  "%s stops a sandbox cleanly, even with open watches",
  async (signal) => {
    const { child, line, ended } = start("sandbox", "--port", "0", "--no-tls", "--anonymous");
    const { url } = JSON.parse(await line);
    const response = await fetch(`${url}/api/v1/namespaces?watch=1`);
    expect(response.status).toBe(200);
    child.kill(signal);
    expect(await ended).toBe(0);
    await response.body?.cancel().catch(() => {});
  },
);

test("acknowledged writes survive kill -9, and revisions keep increasing", async () => {
  const dataDir = join(home, "data");
  const flags = ["sandbox", "--port", "0", "--no-tls", "--anonymous", "--data-dir", dataDir];
  const first = start(...flags);
  const { url } = JSON.parse(await first.line);
  const path = "/api/v1/namespaces/default/configmaps";
  const write = (at: string, name: string) =>
    fetch(at + path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ metadata: { name } }),
    });
  const acknowledged: string[] = [];
  let last = 0;
  const writing = (async () => {
    for (let index = 0; ; index++) {
      const { metadata } = (await (await write(url, `c${index}`)).json()) as {
        metadata: { name: string; resourceVersion: string };
      };
      acknowledged.push(metadata.name);
      last = Number(metadata.resourceVersion);
      if (index === 50) first.child.kill("SIGKILL");
    }
  })();
  await writing.catch(() => {});
  await first.ended;
  const second = start(...flags);
  const { url: again } = JSON.parse(await second.line);
  const { items } = (await (await fetch(again + path)).json()) as { items: { metadata: { name: string } }[] };
  expect(items.map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(acknowledged));
  const { metadata } = (await (await write(again, "next")).json()) as {
    metadata: { resourceVersion: string };
  };
  expect(Number(metadata.resourceVersion)).toBeGreaterThan(last);
  second.child.kill();
  expect(await second.ended).toBe(0);
}, 30_000);

test("a wrong option exits with 2 and prints no stack trace", async () => {
  const failed = await promisify(execFile)(process.execPath, [main, "sandbox", "--port", "x"]).catch(
    (error) => error,
  );
  expect(failed.code).toBe(2);
  expect(failed.stderr).not.toContain("    at ");
});
