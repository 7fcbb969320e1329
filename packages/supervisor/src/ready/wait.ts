/** Waits until a child says that it is ready, in the way that was agreed. Ends with the signal, whichever way it is. */
import type { ChildProcess } from "node:child_process";
import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import type { Clock } from "@tenure/base";
import { ask, type CheckContext } from "../check/run.ts";
import type { Ready } from "../check/spec.ts";
import { inWords } from "../errors.ts";
import { eachLine } from "../process/lines.ts";

export interface ReadyParts {
  readonly clock: Clock;
  readonly context: CheckContext;
  /** How long one question may take. */
  readonly checkTimeoutMs: number;
}

/** Between two questions to a child that is starting. */
const againMs = 100;

export interface ReadyWait {
  /** Resolves when the child is ready. Never rejects; ends with the signal without a word. */
  readonly ready: Promise<void>;
  /** What was missing the last time it was looked at. */
  readonly missing: () => string;
}

/** What is there before the start is not the child's word. Call it before, and the result after. */
export async function prepareReady(
  ready: Ready,
  parts: ReadyParts,
): Promise<(child: ChildProcess, signal: AbortSignal) => ReadyWait> {
  const before = ready.kind === "file" ? await signatureOf(ready.path) : undefined;
  return (child, signal) => {
    let missing = describeMissing(ready);
    const ifNot = (text: string) => {
      missing = text;
    };
    return { ready: waitFor(ready, { ...parts, child, signal, before, ifNot }), missing: () => missing };
  };
}

interface Waiting extends ReadyParts {
  readonly child: ChildProcess;
  readonly signal: AbortSignal;
  readonly before: string | undefined;
  readonly ifNot: (missing: string) => void;
}

function waitFor(ready: Ready, waiting: Waiting): Promise<void> {
  const { child, signal, before, ifNot } = waiting;
  switch (ready.kind) {
    case "spawn":
      return Promise.resolve();
    case "fd":
      return newlineOn(child.stdio[ready.fd] as Readable);
    case "ipc":
      return new Promise((resolve) => child.on("message", (message) => message === "ready" && resolve()));
    case "log":
      return lineOf(child, ready.pattern, signal);
    case "file":
      return repeat(waiting, async () => {
        const now = await signatureOf(ready.path);
        if (now !== undefined && now === before) {
          ifNot(`${ready.path} was there before the start and has not changed since`);
        }
        return now !== undefined && now !== before;
      });
    default:
      return repeat(waiting, async () => {
        const { clock, checkTimeoutMs, context } = waiting;
        const question = new AbortController();
        const giveUp = () => question.abort(new Error(`no answer within ${checkTimeoutMs} ms`));
        const cancel = clock.at(clock.now().monoMs + checkTimeoutMs, giveUp);
        signal.addEventListener("abort", giveUp, { once: true });
        try {
          await ask(ready, context, question.signal);
          return !question.signal.aborted;
        } catch (error) {
          ifNot(inWords(error));
          return false;
        } finally {
          cancel();
          signal.removeEventListener("abort", giveUp);
        }
      });
  }
}

async function repeat({ clock, signal }: Waiting, isSo: () => Promise<boolean>): Promise<void> {
  while (!signal.aborted) {
    if (await isSo()) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        cancel();
        signal.removeEventListener("abort", end);
        resolve();
      };
      const cancel = clock.at(clock.now().monoMs + againMs, end);
      signal.addEventListener("abort", end, { once: true });
    });
  }
  await new Promise(() => {});
}

/** Read on after that: a child that writes more must not stand still, nor fail. */
function newlineOn(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    stream.on("error", () => {});
    stream.on("data", (chunk: Buffer) => {
      if (chunk.includes(10)) resolve();
    });
  });
}

function lineOf(child: ChildProcess, pattern: RegExp, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
    const onLine = (line: string) => {
      if (!pattern.test(line)) return;
      end();
      resolve();
    };
    const ends = streams.map((stream) => eachLine(stream, onLine));
    const end = () => {
      for (const endOne of ends) endOne();
    };
    signal.addEventListener("abort", end, { once: true });
  });
}

/** Differs when the file was written, replaced or touched. */
async function signatureOf(path: string): Promise<string | undefined> {
  try {
    const { ino, dev, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
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
      return 'it sent no message "ready"';
    case "log":
      return `no line of its output matches ${ready.pattern.source}`;
    case "file":
      return `there is no file ${ready.path}`;
    default:
      return "it gave no answer";
  }
}
