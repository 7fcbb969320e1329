/** Follows docs/tasks/migrate.md from the leader-elector sidecar: its commands in their order, beside a leader-elector. */
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { KubeClient, loadConfig } from "@tenure/kube";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Guide, openGuide, type Terminal } from "./guide.ts";

const page = "docs/tasks/migrate.md";
const path = "/api/v1/namespaces/default/endpoints";

/** leader-elector 0.5, as far as the lock is concerned: it keeps the record in an annotation of an Endpoints object. */
class LeaderElector {
  readonly #client: KubeClient;
  #renewals = 0;
  #isOver = false;
  #running: Promise<void> = Promise.resolve();

  constructor(client: KubeClient) {
    this.#client = client;
  }

  async start(): Promise<void> {
    const metadata = { name: "billing", annotations: this.#annotations() };
    await this.#client.request({ method: "POST", path, body: { metadata } });
    this.#running = this.#run();
  }

  /** Its process ends without a release: leader-elector has none. */
  async kill(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async renewals(count: number): Promise<void> {
    const wanted = this.#renewals + count;
    await expect.poll(() => this.#renewals, { timeout: 20_000 }).toBeGreaterThanOrEqual(wanted);
  }

  #annotations(): Record<string, string> {
    const now = `${new Date().toISOString().slice(0, 19)}Z`;
    const record = {
      holderIdentity: "old-pod",
      leaseDurationSeconds: 4,
      acquireTime: "2030-01-01T00:00:00Z",
      // Whole seconds, so the record changes once a second.
      renewTime: now,
      leaderTransitions: 0,
    };
    return { "control-plane.alpha.kubernetes.io/leader": JSON.stringify(record) };
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      this.#renewals += 1;
      await this.#client.request({
        method: "PATCH",
        path: `${path}/billing`,
        contentType: "application/merge-patch+json",
        body: { metadata: { annotations: this.#annotations() } },
      });
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

interface Sidecar {
  readonly terminal: Terminal;
  status(): Promise<{ name: string; identity: string; isLeader: boolean }>;
}

let guide: Guide;
let client: KubeClient;
let old: LeaderElector;
beforeEach(async () => {
  guide = await openGuide(page);
  client = new KubeClient(() => loadConfig({ kubeconfig: guide.kubeconfig }));
  old = new LeaderElector(client);
});
afterEach(async () => {
  await old?.kill();
  client?.close();
  await guide?.close();
});

/** The commands of the section, in the order in which the reader rolls them out. */
function rollouts(): string[] {
  const [, section = ""] = readFileSync(page, "utf8").split("## From the leader-elector sidecar\n");
  return [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, code]) => code as string);
}

/** One replica. All replicas of the test share a machine, so each gets a port of its own. */
async function start(command: string, environment = ""): Promise<Sidecar> {
  const terminal = guide.terminal(`${environment} exec ${command.replace("0.0.0.0:4040", "127.0.0.1:0")}`);
  const at = await terminal.says("taking part in the election of");
  const [url] = /http:\/\/[\d.:]+/.exec(terminal.lines[at] ?? "") ?? [];
  if (!url) throw new Error(`no address in: ${terminal.lines[at]}`);
  const status = async () => (await fetch(url)).json() as ReturnType<Sidecar["status"]>;
  return { terminal, status };
}

const leads = (sidecar: Sidecar) =>
  expect.poll(async () => (await sidecar.status()).isLeader, { timeout: 30_000 }).toBe(true);

describe("docs/tasks/migrate.md, from the leader-elector sidecar", () => {
  test("never has two leaders in the order of the page", { timeout: 120_000 }, async () => {
    await old.start();
    const [first = "", ...others] = rollouts();
    // The manifest of leader-elector has neither --id nor POD_NAME.
    let leader = await start(first, "unset POD_NAME;");
    const { identity } = await leader.status();
    expect(identity).toBe(hostname());
    await expect.poll(async () => (await leader.status()).name, { timeout: 20_000 }).toBe("old-pod");
    await old.renewals(30);
    expect(await leader.status()).toMatchObject({ name: "old-pod", isLeader: false });
    await old.kill();
    await leads(leader);
    for (const [index, command] of others.entries()) {
      const next = await start(command, `export POD_NAME=new-pod-${index};`);
      await expect.poll(async () => (await next.status()).name, { timeout: 20_000 }).not.toBe("");
      const before = await leader.status();
      expect([before.isLeader, await next.status()]).toMatchObject([
        true,
        { name: before.identity, isLeader: false },
      ]);
      leader.terminal.interrupt();
      expect(await leader.terminal.exitCode).toBe(0);
      await leads(next);
      leader = next;
    }
    expect(others.length).toBeGreaterThan(0);
  });
});
