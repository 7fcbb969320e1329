/** Which processes of a real child get which signal. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { sendSignal } from "../platform.ts";
import { endManagers, newManager, sleeper } from "../testing/managers.ts";
import { until } from "../testing/processes.ts";
import type { ManagerOptions } from "./manager.ts";

afterEach(endManagers);

describe("the first signal of a stop", () => {
  /** The child and its worker each print what they get. */
  const prefork = (signal: string, drain: string) => {
    const worker = `trap "echo worker got ${signal}; exit 0" ${signal}; echo worker up; while :; do sleep 0.02; done`;
    return `trap 'echo master got ${signal}; ${drain}; echo master done; exit 0' ${signal}
      sh -c '${worker}' & echo master up; while :; do sleep 0.02; done`;
  };
  const stopped = async (options: Partial<ManagerOptions>, { signal = "TERM", drain = "sleep 0.2" } = {}) => {
    const { manager, shell, stdout } = newManager(options);
    let text = "";
    stdout.on("data", (chunk) => {
      text += chunk;
    });
    await manager.start(shell(prefork(signal, drain)));
    await until(() => text.includes("master up") && text.includes("worker up"));
    expect((await manager.stop(20_000))?.killed).toBe(false);
    await manager.flushed();
    return text.split("\n").filter((line) => /got|done/.test(line));
  };

  it("goes to the child alone by default, so that it can drain its workers, and to the rest afterwards", async () => {
    expect(await stopped({})).toEqual(["master got TERM", "master done", "worker got TERM"]);
  });

  it("goes to the group or to the whole tree if told so", async () => {
    for (const killMode of ["group", "tree"] as const) {
      // The child waits for its worker, which it does not tell to stop.
      const lines = await stopped({ killMode }, { drain: "wait" });
      expect([lines.at(-1), [...lines].sort()]).toEqual([
        "master done",
        ["master done", "master got TERM", "worker got TERM"],
      ]);
    }
  });

  it("is the stop signal", async () => {
    expect(await stopped({ stopSignal: "SIGUSR1" }, { signal: "USR1" })).toEqual([
      "master got USR1",
      "master done",
      "worker got USR1",
    ]);
  });

  it("reaches a command of a shell that does not forward it", async () => {
    const { manager, shell, stdout } = newManager();
    const inner = 'trap "echo got it; exit 0" TERM; echo up; while :; do sleep 0.02; done';
    const printed = new Promise((resolve) => stdout.once("data", resolve));
    await manager.start(shell(`sh -c '${inner}'; echo next`));
    await printed;
    let text = "";
    stdout.on("data", (chunk) => {
      text += chunk;
    });
    expect((await manager.stop(20_000))?.killed).toBe(false);
    await manager.flushed();
    expect([text.includes("got it"), text.includes("next")]).toEqual([true, false]);
  });
});

it("a stop finds a process that has lost its environment, its session and its parent since the first scan", async () => {
  const { manager, tree, shell, stdout } = newManager();
  const go = join(mkdtempSync(join(tmpdir(), "tenure-test-")), "go");
  const find = vi.spyOn(tree, "find");
  let text = "";
  stdout.on("data", (chunk) => {
    text += chunk;
  });
  const parent = `${sleeper()} & until [ -e ${go} ]; do sleep 0.02; done`;
  await manager.start(
    shell(`env -i PATH=$PATH setsid --wait sh -c '${parent}'; echo orphaned; exec sleep 1000`),
  );
  await until(() => find.mock.calls.length > 0);
  writeFileSync(go, "");
  await until(() => text.includes("orphaned"));
  await manager.stop(20_000);
  // endManagers fails if the process is left.
});

describe("signal", () => {
  it("reaches the child alone", async () => {
    const { manager, shell, stdout } = newManager();
    let text = "";
    stdout.on("data", (chunk) => {
      text += chunk;
    });
    const listener = (name: string) =>
      `trap 'echo ${name} got it' HUP; echo ${name} up; while :; do sleep 0.05; done`;
    const { pid } = await manager.start(shell(`sh -c "${listener("inner")}" & ${listener("outer")}`));
    await until(() => text.includes("inner up") && text.includes("outer up"));
    manager.signal("SIGHUP");
    await until(() => text.includes("outer got it"));
    // The inner one handles its signals in order.
    sendSignal(-pid, "SIGHUP");
    await until(() => text.split("outer got it").length > 2 && text.includes("inner got it"));
    expect(text.split("inner got it").length).toBe(2);
  });

  it("reaches the whole process group with the kill mode group", async () => {
    const { manager, shell, stdout } = newManager({ killMode: "group" });
    let text = "";
    stdout.on("data", (chunk) => {
      text += chunk;
    });
    const listener = (name: string) =>
      `trap 'echo ${name} got it' HUP; echo ${name} up; while :; do sleep 0.05; done`;
    await manager.start(shell(`sh -c "${listener("inner")}" & ${listener("outer")}`));
    await until(() => text.includes("inner up") && text.includes("outer up"));
    manager.signal("SIGHUP");
    await until(() => text.includes("inner got it") && text.includes("outer got it"));
  });
});
