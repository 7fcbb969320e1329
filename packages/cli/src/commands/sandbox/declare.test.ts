import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KubeClient, loadConfig } from "@tenure/kube";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runCommandLine } from "../../command-line.ts";
import { type FakePlatform, fakePlatform } from "../../testing/fake-platform.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "tenure-cli-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

/** Runs a command line until it ends. */
async function tenure(
  args: string,
  options: { env?: Record<string, string> } = {},
): Promise<FakePlatform & { code: number }> {
  const platform = fakePlatform(args, { home, ...options });
  const code = await runCommandLine(platform);
  return Object.assign(platform, { code });
}

/** Runs a sandbox during `work`. */
async function whileRunning(
  args: string,
  isTerminal: boolean,
  work: (platform: FakePlatform) => Promise<void>,
): Promise<number> {
  const platform = fakePlatform(`sandbox --port 0 ${args}`, { home, isTerminal });
  const ended = runCommandLine(platform);
  await Promise.race([platform.firstOutput, ended]);
  try {
    await work(platform);
  } finally {
    platform.interrupt();
  }
  return ended;
}

test("in a pipe it prints one JSON line when it is ready and one when it has stopped, and exits with 0", async () => {
  let platform: FakePlatform | undefined;
  const code = await whileRunning("", false, async (running) => {
    platform = running;
    const kubeconfig = join(home, ".tenure", "sandbox.kubeconfig");
    expect(JSON.parse(running.printed)).toEqual({
      event: "ready",
      url: expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+$/),
      kubeconfig,
      pid: 1,
    });
    expect(await readFile(kubeconfig, "utf8")).toContain("kind: Config");
  });
  expect(code).toBe(0);
  expect(platform?.printed.split("\n")[1]).toBe('{"event":"stopped","signal":"SIGTERM"}');
});

test("on a terminal it prints its URL, how to use it and how to stop it", async () => {
  await whileRunning("", true, async ({ printed }) => {
    expect(printed).toMatch(/A Kubernetes API is ready at https:/);
    expect(printed).toContain(`export KUBECONFIG=${join(home, ".tenure", "sandbox.kubeconfig")}`);
    expect(printed).toContain("Press Ctrl-C to stop it.");
  });
});

test("--kubeconfig-out sets the path of the kubeconfig", async () => {
  const file = join(home, "elsewhere");
  await whileRunning(`--kubeconfig-out ${file} --no-tls`, false, async () => {
    expect(await readFile(file, "utf8")).toContain('server: "http://127.0.0.1:');
  });
});

test("faults are added, listed, removed and cleared", async () => {
  await whileRunning("", false, async () => {
    const added = await tenure(
      "sandbox faults add latency=5 --verb update --resource leases --times 3 --client pod-1",
    );
    expect([added.code, added.printed]).toEqual([0, "1\n"]);
    const listed = await tenure("sandbox faults list");
    expect(JSON.parse(listed.printed)).toEqual({
      id: 1,
      verb: "update",
      resource: "leases",
      times: 3,
      client: "pod-1",
      effect: { latencyMs: 5 },
      struck: 0,
    });
    expect((await tenure("sandbox faults remove 1")).code).toBe(0);
    const gone = await tenure("sandbox faults remove 1");
    expect([gone.code, gone.complained]).toEqual([
      1,
      "error: There is no fault 1: list them with tenure sandbox faults list\n",
    ]);
    await tenure("sandbox faults add status=429,retry-after=5");
    expect((await tenure("sandbox faults clear")).code).toBe(0);
    expect((await tenure("sandbox faults list")).printed).toBe("");
    expect((await tenure("sandbox faults compact")).printed).toMatch(
      /^Watches can resume from revision \d+ or later\.\n$/,
    );
    expect((await tenure("sandbox faults restart")).code).toBe(0);
  });
});

test.each([
  [
    "sandbox --port abc",
    "error: option '--port <number>' argument 'abc' is invalid. Allowed: a whole number from 0 to 65535.",
  ],
  ["sandbox --port 70000", "argument '70000' is invalid"],
  ["sandbox --prot 1", "error: unknown option '--prot'\n(Did you mean --port?)"],
  ["sandbox --log-format xml", "Allowed choices are text, json."],
  [
    "sandbox faults add explode",
    'error: The effect must be one of hang, drop, lose-answer, stall-watch, cut-watch, latency=MS, status=409|429|500|503, but is "explode"',
  ],
  ["sandbax", "error: unknown command 'sandbax'\n(Did you mean sandbox?)"],
])("%s is rejected with one sentence and exit code 2", async (args, complaint) => {
  const { code, complained } = await tenure(args);
  expect(code).toBe(2);
  expect(complained).toContain(complaint);
  expect(complained).not.toContain("    at ");
});

test("an invalid fault is rejected with exit code 2", async () => {
  await whileRunning("", false, async () => {
    const { code, complained } = await tenure("sandbox faults add hang --verb renew --probability 7");
    expect(code).toBe(2);
    expect(complained).toContain(
      'verb must be one of get, list, watch, create, update, patch, delete, deletecollection: "renew"',
    );
    expect(complained).toContain("probability must be from 0 to 1: 7");
  });
});

test("a port in use: exit code 1, and a fix", async () => {
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
  });
  const { code, complained } = await tenure(`sandbox --port ${port}`);
  server.close();
  expect(code).toBe(1);
  expect(complained).toBe(
    `error: Cannot listen on 127.0.0.1:${port} as the port is in use: stop the process that uses it, or choose another port (0 picks a free one), with --port or --host\n`,
  );
});

test("without a sandbox, faults prints how to start one", async () => {
  const { code, complained } = await tenure("sandbox faults list");
  expect(code).toBe(1);
  expect(complained).toContain("start one with `tenure sandbox`");
  const file = join(home, "not-a-kubeconfig");
  await writeFile(file, "hello");
  const wrong = await tenure("sandbox faults list", { env: { KUBECONFIG: file } });
  expect([wrong.code, wrong.complained]).toEqual([
    2,
    "error: Cannot use the kubeconfig as no sandbox wrote it: use the file that `tenure sandbox` writes\n",
  ]);
});

test("help has examples, and is not an error", async () => {
  const { code, printed } = await tenure("sandbox --help");
  expect(code).toBe(0);
  expect(printed).toContain("tenure sandbox faults add latency=500 --verb update --resource leases");
  expect((await tenure("sandbox faults --help")).printed).toContain("lose-answer");
});

test("--nodes runs controllers and a scheduler beside the API", async () => {
  await whileRunning("--nodes 0", false, async () => {
    const client = new KubeClient(() =>
      loadConfig({ kubeconfig: join(home, ".tenure", "sandbox.kubeconfig") }),
    );
    const labels = { app: "web" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } };
    const body = {
      metadata: { name: "web" },
      spec: { replicas: 2, selector: { matchLabels: labels }, template },
    };
    await client.request({ method: "POST", path: "/apis/apps/v1/namespaces/default/deployments", body });
    const messages = async () => {
      const path = "/api/v1/namespaces/default/events";
      const { items } = await client.request<{ items: { message: string }[] }>({ method: "GET", path });
      return items.map(({ message }) => message);
    };
    await expect.poll(messages).toContain("no nodes available to schedule pods");
    client.close();
  });
});

test.each([
  [
    "sandbox --nodes many",
    2,
    "error: option '--nodes <number>' argument 'many' is invalid. Allowed: a whole number from 0 to 999.",
  ],
  ["sandbox --scheduler none", 2, "error: --scheduler needs --nodes; add --nodes, for example --nodes 3"],
  ["sandbox controllers --lease-duration 5", 2, "error: --lease-duration must be a duration"],
  ["sandbox scheduler --preset quick", 2, "error: option '--preset <name>' argument 'quick' is invalid."],
])("%s is rejected", async (args, code, message) => {
  const ran = await tenure(args);
  expect(ran.complained).toContain(message);
  expect(ran.code).toBe(code);
});
