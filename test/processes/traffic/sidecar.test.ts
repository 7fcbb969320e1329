/**
 * Runs examples/sidecar as processes: each replica is the built `tenure sidecar` and an application that uses it. The test
 * kills and freezes sidecars; two applications must never work at the same time.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { loadAll } from "js-yaml";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connectForLocks, eventually, type LockTarget } from "../../conformance/locks-target.ts";
import type { Body } from "../../conformance/target.ts";
import { checkBuild } from "../election/replicas.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const lease = [
  "--lease-duration=3s",
  "--renew-deadline=2s",
  "--retry-period=300ms",
  "--handover-delay=500ms",
];

interface Line {
  readonly at: number;
  readonly what: string;
  readonly token: string;
}

interface Replica {
  readonly sidecar: ChildProcess;
  readonly app: ChildProcess;
  readonly url: string;
  readonly lines: Line[];
}

let connection: LockTarget;
let folder: string;
let namespace: string;
const replicas: Replica[] = [];

beforeAll(async () => {
  checkBuild();
  connection = await connectForLocks();
  folder = await mkdtemp(join(tmpdir(), "tenure-sidecars-"));
}, 60_000);
afterEach(() => {
  for (const { sidecar, app } of replicas.splice(0))
    for (const child of [sidecar, app]) child.kill("SIGKILL");
});
afterAll(async () => {
  await connection?.close();
  await rm(folder, { recursive: true, force: true });
});

async function start(id: string): Promise<Replica> {
  const command = join(root, "packages/cli/bin/tenure.cjs");
  const where = ["--kubeconfig", connection.kubeconfig, "--namespace", namespace];
  const args = ["sidecar", "--election=example", `--id=${id}`, "--http=127.0.0.1:0", ...lease, ...where];
  const sidecar = spawn(process.execPath, [command, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise<string>((resolve) => {
    createInterface({ input: sidecar.stdout }).on("line", (line) => {
      const { event, status } = JSON.parse(line);
      if (event === "started") resolve(status);
    });
  });
  const app = spawn(process.execPath, [join(root, "examples/sidecar/app.mjs")], {
    env: { ...process.env, TENURE_URL: url },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: Line[] = [];
  createInterface({ input: app.stdout }).on("line", (line) => lines.push(JSON.parse(line)));
  const replica = { sidecar, app, url, lines };
  replicas.push(replica);
  return replica;
}

const works = (replica: Replica, sinceMs = 0) =>
  replica.lines.some(({ what, at }) => what === "working" && at >= sinceMs);
const lastWorkMs = (replica: Replica) => replica.lines.findLast(({ what }) => what === "working")?.at ?? 0;
const firstWorkMs = (replica: Replica) => replica.lines.find(({ what }) => what === "working")?.at ?? 0;
/** The longest time that one step of work of the example takes, including its output. */
const workMs = 100;

async function startTwo() {
  namespace = await connection.target.namespace();
  const a = await start("a");
  await eventually(() => works(a), "a works");
  const b = await start("b");
  return { a, b };
}

describe("an application with a sidecar", () => {
  it("works in one replica, and stops before its sidecar hands over on SIGTERM", async () => {
    const { a, b } = await startTwo();
    a.sidecar.kill("SIGTERM");
    const [code] = await once(a.sidecar, "exit");
    expect(code).toBe(0);
    await eventually(() => works(b), "b works");
    expect(firstWorkMs(b) - lastWorkMs(a)).toBeGreaterThanOrEqual(workMs);
    expect(BigInt(b.lines.at(-1)?.token ?? 0)).toBeGreaterThan(BigInt(a.lines[0]?.token ?? 0));
  });

  it.each(["SIGKILL", "SIGSTOP"] as const)(
    "stops before the next one starts after %s of its sidecar",
    async (signal) => {
      const { a, b } = await startTwo();
      a.sidecar.kill(signal);
      await eventually(() => works(b), "b works");
      expect(firstWorkMs(b) - lastWorkMs(a)).toBeGreaterThanOrEqual(workMs);
      // A sidecar that continues must notice that another replica leads.
      const sinceMs = Date.now();
      a.sidecar.kill("SIGCONT");
      await eventually(() => works(b, sinceMs + 1_000), "b keeps working");
      expect(works(a, sinceMs)).toBe(false);
      if (signal === "SIGSTOP") {
        const status = (await (await fetch(a.url)).json()) as { name: string };
        expect(status.name).toBe("b");
      }
    },
  );
});

describe("examples/sidecar/deployment.yaml", () => {
  it("is accepted by the API server, and grants the permissions that the sidecar needs", async () => {
    const documents = loadAll(readFileSync(join(root, "examples/sidecar/deployment.yaml"), "utf8")) as Body[];
    const target = connection.target;
    const where = await target.namespace();
    const groups: Record<string, string> = { v1: "/api/v1" };
    for (const document of documents) {
      const { apiVersion, kind, metadata } = document;
      const plural = `${kind.toLowerCase()}s`;
      const path = `${groups[apiVersion] ?? `/apis/${apiVersion}`}/namespaces/${where}/${plural}`;
      const { status, body } = await target.request("POST", path, document);
      expect([metadata.name, status, status === 201 ? "" : body.message]).toEqual([
        "sidecar-example",
        201,
        "",
      ]);
    }
    const role = documents.find(({ kind }) => kind === "Role");
    const { podLabelRules } = await import("@tenure/traffic");
    expect(role.rules).toEqual(expect.arrayContaining(podLabelRules()));
  });
});
