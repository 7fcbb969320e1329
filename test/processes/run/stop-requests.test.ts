/** Ways to stop the built command other than a signal to it: a closed terminal, npx. And a signal that stops nothing. */
import { spawnSync } from "node:child_process";
import { KubeClient, loadConfig } from "@tenure/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as children from "./children.mjs";
import { shellCommand, startTenure } from "./replicas.ts";
import { newWorld } from "./world.ts";

const world = newWorld();
let client: KubeClient;
let count = 0;

beforeAll(() => {
  client = new KubeClient(loadConfig({ kubeconfig: world.kubeconfig }));
});
afterAll(() => client?.close());

interface Lease {
  readonly spec: { readonly holderIdentity: string };
}

async function holder(name: string): Promise<string> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/default/leases/${name}`;
  return (await client.request<Lease>({ method: "GET", path })).spec.holderIdentity;
}

const flagsFor = (name: string) => [
  ...["--kubeconfig", world.kubeconfig, "--lease-lock-name", name, "--id", "a", "--log-format", "json"],
];

const has = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;

describe.runIf(has("script", "-qec", "true", "/dev/null"))(
  "a terminal that is closed",
  { timeout: 30_000 },
  () => {
    const commands: [string, (name: string) => string[]][] = [
      ["run", (name) => ["run", ...flagsFor(name), "--", ...children.slowToStop(0.2)]],
      ["elect", (name) => ["elect", ...flagsFor(name)]],
    ];

    it.each(commands)("ends tenure %s, which releases the lease", async (_, argumentsFor) => {
      const name = `stop-${++count}`;
      const replica = startTenure([], {}, ["script", "-qec", shellCommand(argumentsFor(name)), "/dev/null"]);
      await expect.poll(() => holder(name).catch(() => ""), { timeout: 15_000 }).toBe("a");
      expect(replica.descendants().length).toBeGreaterThan(0);
      // script cannot react. The system closes its side of the terminal.
      replica.kill("SIGKILL");
      await expect.poll(() => replica.descendants(), { timeout: 15_000 }).toEqual([]);
      expect(await holder(name)).toBe("");
    });
  },
);

describe("npx", { timeout: 60_000 }, () => {
  it.each(["SIGTERM", "SIGKILL"] as const)(
    "on %s to it alone, tenure stops and releases the lease",
    async (signal) => {
      const name = `stop-${++count}`;
      const command = shellCommand(["run", ...flagsFor(name), "--", ...children.slowToStop(0.2)]);
      const replica = startTenure([], { HOME: world.folder }, [
        "npm",
        "exec",
        "--offline",
        "--call",
        command,
      ]);
      await replica.hasPrinted("up");
      replica.kill(signal);
      await expect.poll(() => replica.descendants(), { timeout: 15_000 }).toEqual([]);
      expect(await holder(name)).toBe("");
    },
  );
});

describe("SIGUSR1", { timeout: 30_000 }, () => {
  it.each([
    ["elect", []],
    ["sidecar", ["--status", "127.0.0.1:0"]],
  ])("does not open Node's debugger in tenure %s", async (command, flags) => {
    const name = `stop-${++count}`;
    const replica = startTenure([command, ...flagsFor(name), ...flags, "--log-leader-every", "100ms"]);
    await replica.hasPrinted("I am the leader");
    replica.kill("SIGUSR1");
    // Node opens it on the main thread, which has handled the signal before it logs again.
    const before = replica.printed.length;
    await expect.poll(() => replica.printed.length, { timeout: 15_000 }).toBeGreaterThan(before + 2);
    replica.kill("SIGTERM");
    expect(await replica.exit).toEqual({ code: 0, signal: null, survivors: [] });
    expect(replica.stderrLines).toEqual([]);
  });
});
