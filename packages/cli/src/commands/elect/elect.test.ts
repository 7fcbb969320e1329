/** Three candidates, as in the client-go example. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Sandbox, startSandbox } from "@tenure/sandbox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommandLine } from "../../command-line.ts";
import { type FakeOptions, type FakePlatform, fakePlatform } from "../../testing/fake-platform.ts";
import { withDoubleDashes } from "./single-dash.ts";

let sandbox: Sandbox;
let home: string;
let kubeconfig: string;

beforeAll(async () => {
  sandbox = await startSandbox();
  home = await mkdtemp(join(tmpdir(), "tenure-elect-"));
  kubeconfig = join(home, "kubeconfig");
  await sandbox.writeKubeconfig(kubeconfig);
});
afterAll(async () => {
  await sandbox.close();
  await rm(home, { recursive: true, force: true });
});

interface Terminal extends FakePlatform {
  /** Resolves when the text was printed. */
  shows(text: string): Promise<void>;
  ended: Promise<number>;
}

function terminal(args: string, options: Partial<FakeOptions> = {}): Terminal {
  const platform = fakePlatform(`elect ${args}`, { home, isTerminal: true, ...options }) as Terminal;
  const waiting = new Set<() => void>();
  const print = platform.out;
  platform.out = (text) => {
    print(text);
    for (const look of waiting) look();
  };
  platform.shows = (text) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`it does not show ${text} but ${platform.printed} ${platform.complained}`)),
        10_000,
      );
      const look = () => {
        if (!platform.printed.includes(text)) return;
        clearTimeout(timer);
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  platform.ended = runCommandLine(platform);
  return platform;
}

describe("tenure elect", () => {
  it("one of three candidates leads, and Ctrl-C there moves leadership at once", async () => {
    const flags = `--kubeconfig ${kubeconfig} --lease-lock-name example --lease-lock-namespace default`;
    const one = terminal(`${flags} --id 1`);
    await one.shows("1: I am the leader!");
    const others = [terminal(`${flags} --id 2`), terminal(`${flags} --id 3`)];
    for (const [index, other] of others.entries()) await other.shows(`${index + 2}: new leader elected: 1`);
    one.raise("SIGINT");
    expect(await one.ended).toBe(0);
    expect(one.printed).toContain("1: gave up leadership (shutdown)");
    // Its own leadership is announced once, as in the client-go example.
    expect(one.printed).not.toContain("new leader elected");
    const next = await Promise.any(
      others.map(async (other, index) => {
        await other.shows("I am the leader!");
        return index;
      }),
    );
    const last = others[1 - next] as Terminal;
    await last.shows(`${3 - next}: new leader elected: ${next + 2}`);
    expect(last.printed).not.toContain("I am the leader!");
    for (const other of others) other.raise("SIGTERM");
    expect(await Promise.all(others.map(({ ended }) => ended))).toEqual([0, 0]);
  });

  it("works like the client-go example: no name, and = between a flag and its value", async () => {
    const one = terminal(`--kubeconfig=${kubeconfig} --id=instance-1`);
    await one.shows("instance-1: taking part in the election of default/my-leader-election-lock");
    await one.shows("instance-1: I am the leader!");
    one.raise("SIGINT");
    expect(await one.ended).toBe(0);
  });

  it("accepts the flags of the example with one dash, like Go", () => {
    expect(
      withDoubleDashes(["elect", "-kubeconfig=x", "-lease-lock-name", "a", "-id", "1", "-n", "b"]),
    ).toEqual(["elect", "--kubeconfig=x", "--lease-lock-name", "a", "--id", "1", "-n", "b"]);
    expect(withDoubleDashes(["run", "-id"])).toEqual(["run", "-id"]);
  });

  it("prints who leads even if nothing changes", async () => {
    const flags = `--kubeconfig ${kubeconfig} --lease-lock-name reminded --log-leader-every 20ms`;
    const one = terminal(`${flags} --id a`);
    await one.shows("a: still the leader");
    const two = terminal(`${flags} --id b`);
    await two.shows("b: the leader is a");
    for (const each of [two, one]) each.raise("SIGINT");
    await Promise.all([one.ended, two.ended]);
  });

  it("warns once about a renew deadline that leaves no time to repeat a renewal, and takes part", async () => {
    const flags = `--kubeconfig ${kubeconfig} --lease-lock-name warned --id a --renew-deadline 10s`;
    const one = terminal(`${flags} --retry-period 5s`);
    await one.shows("a: I am the leader!");
    one.raise("SIGINT");
    expect(await one.ended).toBe(0);
    const warning =
      "warning: --renew-deadline should be greater than 2 times --retry-period, so that a failed renewal can be repeated (10s), but is 10s\n";
    expect(one.printed.split(warning).length).toBe(2);
    const other = terminal(`${flags} --retry-period 4999ms`);
    await other.shows("a: I am the leader!");
    other.raise("SIGINT");
    await other.ended;
    expect(other.printed).not.toContain("warning");
  });

  it("prints JSON in a pipe", async () => {
    const one = terminal(`--kubeconfig ${kubeconfig} --lease-lock-name json`, {
      isTerminal: false,
      env: { TENURE_ID: "a" },
    });
    await one.shows('"event":"leading"');
    one.raise("SIGTERM");
    await one.ended;
    const lines = one.printed
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ event }) => event)).toEqual([
      "started",
      "leading",
      "term-ended",
      "leader-changed",
      "stopped",
    ]);
    expect(lines[1]).toMatchObject({ level: "info", identity: "a", leader: "a", token: expect.any(String) });
    expect(lines[3]).toMatchObject({ level: "info", identity: "a", leader: null, msg: "a: nobody leads" });
  });

  it("stops at once when the server does not respond", async () => {
    const one = terminal("--sandbox http://127.0.0.1:1 --id a");
    await one.shows("a: Cannot");
    one.raise("SIGINT");
    expect(await one.ended).toBe(0);
  });

  it.each([
    [
      "--lease-duration 5 --preset quick --log-format xml --id=",
      [
        "error: Cannot start, there are 4 problems:",
        '  - --preset must be one of standard, fast-failover, low-load, but is "quick"',
        '  - --lease-duration must be a duration like "15s" or "500ms", but is "5"',
        "  - --id must not be empty; set POD_NAME with the downward API (fieldRef metadata.name), or pass --id",
        '  - --log-format must be one of text, json, but is "xml"',
      ],
    ],
    ["--id 1 --kubeconfg x", ["error: unknown option '--kubeconfg'", "(Did you mean --kubeconfig?)"]],
  ])("%s is rejected with all problems and exit code 2", async (args, lines) => {
    const { ended, complained } = await (async () => {
      const platform = terminal(args);
      await platform.ended;
      return platform;
    })();
    expect(await ended).toBe(2);
    for (const line of lines) expect(complained).toContain(line);
  });

  it("without a cluster says how to start one", async () => {
    const platform = terminal("--id 1");
    expect(await platform.ended).toBe(2);
    expect(platform.complained).toContain("run `tenure sandbox`");
  });

  it("without rights exits with 3 if --fail-when-denied is given, and prints what is missing", async () => {
    const account = await sandbox.serviceAccount("default", "nobody");
    const platform = terminal(`--sandbox ${account.directory} --id 1 --fail-when-denied`, {
      env: account.env,
    });
    expect(await platform.ended).toBe(3);
    expect(platform.complained).toContain("leases");
  });
});
