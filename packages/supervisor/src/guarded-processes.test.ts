import { PassThrough } from "node:stream";
import { systemClock } from "@tenure/base";
import { afterEach, expect, it } from "vitest";
import { GuardedProcesses, killLeftProcesses, processStart } from "./guarded-processes.ts";
import { mentioning, uniqueSeconds } from "./testing/processes.ts";

const opened: GuardedProcesses[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((processes) => processes.close()));
});

async function open(): Promise<GuardedProcesses> {
  const processes = new GuardedProcesses({ clock: systemClock, onError: () => {} });
  opened.push(processes);
  await processes.start();
  return processes;
}

function shell(processes: GuardedProcesses, script: string, hasInput = false) {
  const stdout = new PassThrough();
  let text = "";
  stdout.setEncoding("utf8").on("data", (piece) => {
    text += piece;
  });
  const env = { PATH: process.env.PATH };
  const started = processes.run({
    command: "/bin/sh",
    args: ["-c", script],
    env,
    cwd: undefined,
    stdout,
    stderr: stdout,
    hasInput,
  });
  return started.then((running) => ({ ...running, text: () => text }));
}

it("passes on output and exit code, and inherits no environment", async () => {
  process.env.TENURE_TEST_SECRET = "secret";
  const running = await shell(await open(), "echo out; echo $TENURE_TEST_SECRET; exit 3");
  expect(await running.gone).toEqual({ exit: { code: 3, signal: undefined }, killed: false });
  expect(running.text()).toBe("out\n\n");
});

it("gives the program an input if it wants one", async () => {
  const running = await shell(await open(), "read line; echo got $line", true);
  running.stdin?.write("hello\n");
  await running.gone;
  expect(running.text()).toBe("got hello\n");
});

it("stops one program without touching another, and leaves nothing behind", async () => {
  const processes = await open();
  const [one, two] = [uniqueSeconds(), uniqueSeconds()];
  const first = await shell(processes, `setsid sleep ${one} & sleep ${one}`);
  await shell(processes, `setsid sleep ${two} & sleep ${two}`);
  await expect.poll(() => mentioning(two).length).toBeGreaterThanOrEqual(2);
  first.stop(0);
  await first.gone;
  expect(mentioning(one)).toEqual([]);
  expect(mentioning(two).length).toBeGreaterThanOrEqual(2);
  await processes.close();
  expect(mentioning(two)).toEqual([]);
});

it("finds the processes of an earlier run by its marker", async () => {
  const processes = await open();
  const seconds = uniqueSeconds();
  await shell(processes, `setsid sleep ${seconds} & sleep ${seconds}`);
  await expect.poll(() => mentioning(seconds).length).toBeGreaterThanOrEqual(2);
  await killLeftProcesses(processes.marker, systemClock);
  expect(mentioning(seconds)).toEqual([]);
});

it("tells this process from others", () => {
  expect(processStart()).toBeGreaterThan(0);
  expect(processStart(2 ** 22 + 1)).toBeUndefined();
});
