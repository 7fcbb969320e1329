import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, expect, it } from "vitest";
import { FakeClock, findFaketime, howToGetFaketime } from "./faketime.mjs";

const library = findFaketime();
if (!library) console.warn(`skipped: ${howToGetFaketime}`);
const folder = mkdtempSync(join(tmpdir(), "tenure-faketime-"));
const children: ChildProcessWithoutNullStreams[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** Prints both of its clocks whenever it receives input. */
const program = "process.stdin.on('data', () => console.log(Date.now(), process.hrtime().join(' ')))";

it.skipIf(!library)(
  "sets only the wall clock of a running process, and leaves no shared memory behind",
  async () => {
    const clock = new FakeClock(library ?? "", join(folder, "clock"));
    const child = spawn(process.execPath, ["-e", program], { env: { ...process.env, ...clock.env } });
    children.push(child);
    const lines = createInterface({ input: child.stdout });
    for (const offsetMs of [0, 3_600_000, -12_345, 0]) {
      clock.set(offsetMs);
      const answer = once(lines, "line");
      child.stdin.write("?");
      const [wallMs = 0, seconds = 0, nanos = 0] = String(await answer)
        .split(" ")
        .map(Number);
      const [ourSeconds, ourNanos] = process.hrtime();
      const wallOffMs = wallMs - Date.now();
      const monoOffMs = (seconds - ourSeconds) * 1_000 + (nanos - ourNanos) / 1e6;
      // On a busy machine the reply takes a while.
      expect(Math.abs(wallOffMs - offsetMs)).toBeLessThan(2_000);
      expect(Math.abs(monoOffMs)).toBeLessThan(2_000);
    }
    child.kill("SIGKILL");
    await once(child, "exit");
    clock.removeSharedMemory(child.pid as number);
    expect(readdirSync("/dev/shm").filter((name) => name.endsWith(`_${child.pid}`))).toEqual([]);
  },
);
