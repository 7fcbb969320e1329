/** With real processes. Each sleeps for a unique number of seconds, by which the tests find it. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { sleepers, uniqueSeconds, until } from "../testing/processes.ts";
import { runHook } from "./hook.ts";

const folder = mkdtempSync(join(tmpdir(), "tenure-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

const never = new AbortController().signal;
const shell = (script: string) => ["sh", "-c", script];
const context = (signal = never) => ({
  env: { PATH: process.env.PATH, ROLE: "leader" },
  cwd: folder,
  signal,
});

describe("a hook", () => {
  it("runs with its environment in its folder, and succeeds with exit code 0", async () => {
    await runHook(shell('echo "$ROLE" > told'), context());
    expect(readFileSync(join(folder, "told"), "utf8")).toBe("leader\n");
  });

  it.each([
    ["exit 3", "it exited with code 3"],
    ["kill -TERM $$", "it was killed by SIGTERM"],
  ])("that ends with %s fails", async (script, message) => {
    await expect(runHook(shell(script), context())).rejects.toThrow(message);
  });

  it("that does not exist fails", async () => {
    await expect(runHook(["/no/such/hook"], context())).rejects.toThrow(
      'Cannot start "/no/such/hook": there is no such program',
    );
  });

  it("whose time is up is killed with its group, and fails with the reason", async () => {
    const seconds = uniqueSeconds();
    const timeUp = new AbortController();
    const ended = runHook(shell(`sleep ${seconds} & trap '' TERM; wait`), context(timeUp.signal));
    await until(() => sleepers(seconds).length === 1);
    timeUp.abort(new Error("it took too long"));
    await expect(ended).rejects.toThrow("it took too long");
    await until(() => sleepers(seconds).length === 0);
  });

  it("that ends leaves no process in its group", async () => {
    const seconds = uniqueSeconds();
    await runHook(shell(`sleep ${seconds} & exit 0`), context());
    await until(() => sleepers(seconds).length === 0);
  });
});
