/** Waits until a child is ready, in the way that the options define. */
import type { ChildProcess } from "node:child_process";
import { promises as files } from "node:fs";
import type { Readable } from "node:stream";
import { after, type Clock, messageOf, sleep } from "@tenure/base";
import { runCheck } from "../check/run.ts";
import type { CheckContext, Ready } from "../check/spec.ts";
import { eachLine } from "../process/lines.ts";

interface ReadyOptions {
  readonly clock: Clock;
  readonly context: CheckContext;
  /** How long one check may take. */
  readonly checkTimeoutMs: number;
}

/** The pause between two checks of a child that is starting. */
const pauseMs = 100;

/**
 * Waits until the child is ready. Never rejects, and stays pending if the signal aborts first. `onMissing` is called with the
 * reason why the child is not ready yet, at once and whenever it changes.
 */
export type WaitUntilReady = (
  child: ChildProcess,
  signal: AbortSignal,
  onMissing: (missing: string) => void,
) => Promise<void>;

/** Call this before the child is started, and the returned function after: a file that exists before does not count as ready. */
export async function prepareReady(ready: Ready, options: ReadyOptions): Promise<WaitUntilReady> {
  const before = ready.kind === "file" ? await signatureOf(ready.path) : undefined;
  return (child, signal, onMissing) => {
    onMissing(describeMissing(ready));
    return waitFor(ready, { ...options, child, signal, before, onMissing });
  };
}

interface Wait extends ReadyOptions {
  readonly child: ChildProcess;
  readonly signal: AbortSignal;
  readonly before: string | undefined;
  readonly onMissing: (missing: string) => void;
}

function waitFor(ready: Ready, wait: Wait): Promise<void> {
  const { child, signal, before, onMissing } = wait;
  switch (ready.kind) {
    case "spawn":
      return Promise.resolve();
    case "fd":
      return newlineOn(child.stdio[ready.fd] as Readable);
    case "ipc":
      return new Promise((resolve) => child.on("message", (message) => message === "ready" && resolve()));
    case "log":
      return matchingLine(child, ready.pattern, signal);
    case "file":
      return repeat(wait, async () => {
        const now = await signatureOf(ready.path);
        if (now !== undefined && now === before) {
          onMissing(`${ready.path} existed before the start and has not changed since`);
        }
        return now !== undefined && now !== before;
      });
    default:
      return repeat(wait, async () => {
        const { clock, checkTimeoutMs, context } = wait;
        const controller = new AbortController();
        const giveUp = () => controller.abort(new Error(`no answer within ${checkTimeoutMs} ms`));
        const cancel = after(clock, checkTimeoutMs, giveUp);
        signal.addEventListener("abort", giveUp, { once: true });
        try {
          await runCheck(ready, context, controller.signal);
          return !controller.signal.aborted;
        } catch (error) {
          onMissing(messageOf(error));
          return false;
        } finally {
          cancel();
          signal.removeEventListener("abort", giveUp);
        }
      });
  }
}

async function repeat({ clock, signal }: Wait, check: () => Promise<boolean>): Promise<void> {
  while (!signal.aborted) {
    if (await check()) return;
    await sleep(clock, pauseMs, signal);
  }
  await new Promise(() => {});
}

/** Keeps reading afterwards: a child that writes more must neither block nor fail. */
function newlineOn(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    stream.on("error", () => {});
    stream.on("data", (chunk: Buffer) => {
      if (chunk.includes(10)) resolve();
    });
  });
}

function matchingLine(child: ChildProcess, pattern: RegExp, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
    const onLine = (line: string) => {
      if (!pattern.test(line)) return;
      unlisten();
      resolve();
    };
    const cleanups = streams.map((stream) => eachLine(stream, onLine));
    const unlisten = () => {
      for (const cleanup of cleanups) cleanup();
    };
    signal.addEventListener("abort", unlisten, { once: true });
  });
}

/** Changes when the file is written, replaced or touched. Undefined if there is no file. */
async function signatureOf(path: string): Promise<string | undefined> {
  try {
    const { ino, dev, size, mtimeNs, ctimeNs } = await files.stat(path, { bigint: true });
    return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return undefined;
  }
}

function describeMissing(ready: Ready): string {
  switch (ready.kind) {
    case "fd":
      return `it wrote no newline to file descriptor ${ready.fd}`;
    case "ipc":
      return 'it did not send the message "ready"';
    case "log":
      return `no line of its output matches ${ready.pattern.source}`;
    case "file":
      return `there is no file ${ready.path}`;
    default:
      return "no check has finished";
  }
}
