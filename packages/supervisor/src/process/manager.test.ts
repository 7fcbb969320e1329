/** With real processes. Each sleeps for a unique number of seconds, by which the tests find it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import type { SupervisorError } from "../errors.ts";
import { sendSignal } from "../platform.ts";
import { endManagers, names, newManager, sleeper } from "../testing/managers.ts";
import { mentioning, sleepers, until } from "../testing/processes.ts";

afterEach(endManagers);

describe("start and stop", () => {
  it("goes through its states", async () => {
    const { manager, shell, events } = newManager();
    expect([manager.state, manager.isRunning()]).toEqual(["stopped", false]);
    const starting = manager.start(shell(`exec ${sleeper()}`));
    expect(manager.state).toBe("starting");
    const { pid } = await starting;
    expect([manager.state, manager.isRunning(), manager.pid]).toEqual(["running", true, pid]);
    const stopping = manager.stop(10_000);
    expect(manager.state).toBe("stopping");
    const exit = { code: undefined, signal: "SIGTERM" };
    expect(await stopping).toEqual({ exit, killed: false });
    expect([manager.state, manager.isRunning(), manager.pid]).toEqual(["stopped", false, undefined]);
    expect(events).toEqual([
      { type: "stopping", pid, timeoutMs: 10_000 },
      { type: "exited", pid, exit },
      { type: "stopped", pid, exit, killed: false },
    ]);
  });

  it("starting twice gives one child, even at the same time", async () => {
    const { manager, shell } = newManager();
    const program = shell(`exec ${sleeper()}`);
    const [a, b] = await Promise.all([manager.start(program), manager.start(program)]);
    expect((await manager.start(program)).pid).toBe(a.pid);
    expect(a.pid).toBe(b.pid);
  });

  it("stopping twice is one stop, and the shorter timeout applies", async () => {
    const { manager, shell, events } = newManager();
    const { process: child } = await manager.start(shell(`trap '' TERM; echo up; ${sleeper()} & wait; wait`));
    await new Promise((resolve) => child.stdout?.once("data", resolve));
    const first = manager.stop(60_000);
    const second = manager.stop(20);
    expect(await first).toBe(await second);
    expect((await first)?.killed).toBe(true);
    expect(events.filter(({ type }) => type === "stopping")).toHaveLength(1);
  });

  it("stop, wait and signal do nothing without a child", async () => {
    const { manager } = newManager();
    expect([await manager.stop(1_000), await manager.wait()]).toEqual([undefined, undefined]);
    manager.signal("SIGHUP");
  });

  it("a stop during the start stops the child that is being started", async () => {
    const { manager, shell } = newManager();
    const starting = manager.start(shell(`exec ${sleeper()}`));
    await manager.stop(5_000);
    await starting;
    expect(manager.state).toBe("stopped");
  });

  it("a start during the stop is rejected, and possible afterwards", async () => {
    const { manager, shell } = newManager();
    const { pid } = await manager.start(shell(`exec ${sleeper()}`));
    const stopping = manager.stop(5_000);
    await expect(manager.start(shell("true"))).rejects.toThrow(/still being stopped/);
    await stopping;
    expect((await manager.start(shell(`exec ${sleeper()}`))).pid).not.toBe(pid);
  });

  it("reports that a program does not exist, and can start another", async () => {
    const { manager, shell } = newManager();
    const missing = { ...shell(""), command: "/no/such/program" };
    const error = await manager.start(missing).catch((thrown: SupervisorError) => thrown);
    expect(error).toMatchObject({
      code: "SpawnFailed",
      message: 'Cannot start "/no/such/program": there is no such program.',
    });
    expect(manager.state).toBe("stopped");
    await manager.start(shell(`exec ${sleeper()}`));
  });

  it("reports the exit code of a child that exits by itself", async () => {
    const { manager, shell } = newManager();
    const { exited } = await manager.start(shell("exit 3"));
    expect(await exited).toEqual({ code: 3, signal: undefined });
    await manager.wait();
    expect(manager.state).toBe("stopped");
  });

  it("resumes a stopped child so that it handles SIGTERM", async () => {
    const { manager, shell } = newManager();
    const { pid } = await manager.start(shell(`exec ${sleeper()}`));
    sendSignal(pid, "SIGSTOP");
    expect((await manager.stop(10_000))?.killed).toBe(false);
  });
});

describe("no process is left", () => {
  const trees: readonly [name: string, script: (sleep: () => string) => string][] = [
    ["of a child that ignores SIGTERM", (sleep) => `trap '' TERM; echo up; ${sleep()} & wait; wait`],
    [
      "of a child with children and grandchildren",
      (sleep) => `${sleep()} & sh -c '${sleep()} & ${sleep()} & wait' & echo up; wait`,
    ],
    ["that left the group", (sleep) => `setsid ${sleep()} & echo up; wait`],
    ["of a daemon (setsid, double fork)", (sleep) => `setsid sh -c '(${sleep()} &)'; echo up; ${sleep()}`],
    [
      "of a daemon that cleared its environment, while its parent lives",
      (sleep) => `setsid env -i sh -c 'setsid ${sleep()} & wait' & echo up; wait`,
    ],
    [
      "of a child that restarts its processes",
      (sleep) => {
        const sleeping = sleep();
        const loop = `while :; do ${sleeping}; done`;
        return `setsid sh -c "trap '' TERM; ${loop}" & setsid sh -c "trap '' TERM; ${loop}" & echo up; wait`;
      },
    ],
    [
      "of a small fork bomb whose processes all leave the group",
      (sleep) => {
        const sleeping = sleep();
        const bomb = `b() { [ $1 -gt 0 ] && for i in 1 2 3; do setsid sh -c "$body" b $(($1 - 1)) & done; ${sleeping}; }; b $1`;
        return `body='${bomb}'; export body; setsid sh -c "$body" b 3 & echo up; wait`;
      },
    ],
  ];

  it.each(trees)("%s", async (_, script) => {
    const { manager, shell } = newManager();
    const { process: child } = await manager.start(shell(script(sleeper)));
    await new Promise((resolve) => child.stdout?.once("data", resolve));
    await until(() => names.every((name) => sleepers(name).length > 0));
    await manager.stop(300);
    // At once, without waiting.
    expect(names.flatMap((name) => mentioning(name))).toEqual([]);
  });

  it("of a child that exits by itself, when it is reported as stopped", async () => {
    const { manager, shell, events } = newManager();
    const folder = mkdtempSync(join(tmpdir(), "tenure-test-"));
    const waitForGo = `until [ -e ${folder}/go ]; do sleep 0.01; done`;
    const { exited } = await manager.start(
      shell(`setsid ${sleeper()} & ${sleeper()} & ${waitForGo}; exit 0`),
    );
    await until(() => names.every((name) => sleepers(name).length > 0));
    writeFileSync(join(folder, "go"), "");
    await exited;
    rmSync(folder, { recursive: true });
    expect(manager.state).toBe("stopping");
    await expect(manager.start(shell("true"))).rejects.toThrow(/still being stopped/);
    await manager.wait();
    expect(names.flatMap((name) => mentioning(name))).toEqual([]);
    expect(events.map(({ type }) => type)).toEqual(["exited", "killing", "stopped"]);
  });

  it("but descendants get as much time as the child to finish", async () => {
    const { manager, shell, stdout } = newManager();
    let text = "";
    stdout.on("data", (chunk) => {
      text += chunk;
    });
    const worker = "trap 'sleep 0.4; echo finished; exit 0' TERM; echo up; while :; do sleep 0.05; done";
    await manager.start(shell(`sh -c "${worker}" & wait`));
    await until(() => text.includes("up"));
    expect((await manager.stop(20_000))?.killed).toBe(false);
    await manager.flushed();
    expect(text).toContain("finished");
  });
});

describe("output", () => {
  it("is forwarded with a prefix, completely, however much it is", async () => {
    const { manager, shell, stdout } = newManager({ logPrefix: "[child] " });
    let lines = 0;
    let tail = "";
    stdout.on("data", (chunk: Buffer) => {
      lines += chunk.toString().split("\n").length - 1;
      tail = (tail + chunk.toString()).slice(-40);
    });
    await manager.start(shell("seq 1 200000; printf last"));
    await manager.wait();
    await manager.flushed();
    expect(lines).toBe(200_001);
    expect(tail).toMatch(/\n\[child\] 200000\n\[child\] last\n$/);
  });

  it("that nobody reads blocks the child and does not fill the memory", async () => {
    const { manager, shell, stdout } = newManager({ logPrefix: "> " });
    const { pid } = await manager.start(shell("exec yes"));
    await until(() => stdout.writableNeedDrain);
    let printed = "";
    await until(() => {
      const before = printed;
      printed = /^wchar: \d+/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[0] ?? "";
      return printed === before;
    });
    expect(stdout.readableLength + stdout.writableLength).toBeLessThan(1_000_000);
    expect((await manager.stop(5_000))?.killed).toBe(false);
  });

  it("whose reader is gone affects neither the child nor the supervisor", async () => {
    const { manager, shell, errors, stdout } = newManager({ stderr: new PassThrough() });
    const first = await manager.start(shell("seq 1 300000; exit 7"));
    stdout.destroy(new Error("broken pipe"));
    expect(await first.exited).toEqual({ code: 7, signal: undefined });
    expect(errors).toMatchObject([{ code: "Output" }]);
    await manager.wait();
    const second = await manager.start(shell("seq 1 300000; exit 8"));
    expect(await second.exited).toEqual({ code: 8, signal: undefined });
  });
});
