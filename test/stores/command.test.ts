/** The command on both stores, as a user types it, without Kubernetes. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../conformance/locks-target.ts";
import { type EtcdCluster, startEtcd } from "./etcd.mjs";
import { type PostgresCluster, startPostgres } from "./postgres.mjs";

const program = fileURLToPath(new URL("../../packages/cli/bin/tenure.cjs", import.meta.url));
const run = promisify(execFile);

let postgres: PostgresCluster;
let etcd: EtcdCluster;
const started: { readonly child: ChildProcess; readonly exited: Promise<unknown> }[] = [];
let count = 0;

beforeAll(async () => {
  [postgres, etcd] = await Promise.all([startPostgres(), startEtcd()]);
});
afterAll(() => Promise.all([postgres?.stop(), etcd?.stop()]));
afterEach(async () => {
  for (const { child } of started) child.kill("SIGTERM");
  await Promise.all(started.splice(0).map(({ exited }) => exited));
});

/** Nothing of the developer's own environment. */
function environment(lock: string, more: Record<string, string> = {}) {
  return { PATH: process.env.PATH ?? "", HOME: "/nowhere", TENURE_LOCK: lock, ...more };
}

async function tenure(lock: string, ...args: string[]) {
  const result = await run(process.execPath, [program, ...args], { env: environment(lock) }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
  expect(result.stdout + result.stderr).not.toContain("secret");
  return result as { code: number; stdout: string; stderr: string };
}

/** A replica whose child prints that it works, with its token. */
function replica(lock: string, name: string, id: string) {
  const script = 'console.log("works " + process.env.TENURE_TOKEN); setInterval(() => {}, 1000);';
  const child = spawn(
    process.execPath,
    [program, "run", "--lease-lock-name", name, "--id", id, "--", process.execPath, "-e", script],
    { env: environment(lock), stdio: ["ignore", "pipe", "pipe"] },
  );
  let output = "";
  child.stdout.on("data", (data) => {
    output += data;
  });
  child.stderr.on("data", (data) => {
    output += data;
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  started.push({ child, exited });
  const token = () => /works (\d+)/.exec(output)?.[1];
  return { child, token, output: () => output, exited };
}

describe.each([
  ["PostgreSQL", () => postgres.primary.candidateUrl],
  ["etcd", () => `${etcd.endpoints[0]?.replace("http", "etcd")}/elections`],
])("on %s", (_, urlOf) => {
  it("runs a child on one replica, shows it, transfers it, and hands over on a stop", async () => {
    const url = urlOf();
    const name = `billing-${++count}`;
    const first = replica(url, name, "a");
    await eventually(() => first.token() !== undefined, "the first child works");
    const second = replica(url, name, "b");
    await eventually(() => second.output().includes("a"), "the second one knows the first");
    expect(second.token()).toBeUndefined();

    const status = await tenure(url, "status", name);
    expect(status).toMatchObject({ code: 0, stdout: expect.stringMatching(/leader +a\n/) });
    const json = JSON.parse((await tenure(url, "list", "-o", "json")).stdout);
    expect(JSON.stringify(json)).toContain(name);

    const typo = await tenure(url, "transfer", name, "--to", "typo", "--timeout", "1s");
    expect(typo).toMatchObject({ code: 1, stderr: expect.stringContaining('No candidate named "typo"') });
    const transfer = await tenure(url, "transfer", name, "--to", "b");
    expect(transfer).toMatchObject({ code: 0, stderr: "" });
    await eventually(() => second.token() !== undefined, "the second child works");
    expect(BigInt(second.token() ?? 0)).toBeGreaterThan(BigInt(first.token() ?? 0));

    const doctor = await tenure(url, "doctor", name);
    expect(doctor.stdout).toContain("changes of the lock are reported at once");
    expect(doctor.code).toBe(0);

    second.child.kill("SIGTERM");
    await second.exited;
    await eventually(() => (first.output().match(/works/g) ?? []).length === 2, "the first leads again");
    expect(first.output() + second.output()).not.toContain("secret");
  });

  it("says that there is no such election", async () => {
    const { code, stderr } = await tenure(urlOf(), "status", "not-there");
    expect([code, stderr]).toEqual([1, expect.stringContaining('There is no election "not-there" in ')]);
  });
});

it("prints the error and the way out of a wrong password, and does not print the password", async () => {
  const wrong = postgres.primary.candidateUrl.replace("secret", "guessed");
  const { code, stderr } = await tenure(wrong, "status", "x");
  expect(code).toBe(1);
  expect(stderr).toContain("Check user and password");
  expect(stderr).not.toContain("guessed");
  const elected = await tenure(wrong, "elect", "--lease-lock-name", "x", "--fail-when-denied");
  expect(elected).toMatchObject({ code: 3, stderr: expect.stringContaining("Check user and password") });
});

it("takes the password of PostgreSQL from PGPASSWORD", async () => {
  const url = postgres.primary.candidateUrl.replace(":secret", "");
  const env = environment(url, { PGPASSWORD: "secret" });
  const { stdout } = await run(process.execPath, [program, "list", "-o", "json"], { env });
  expect(stdout).toContain("items");
});
