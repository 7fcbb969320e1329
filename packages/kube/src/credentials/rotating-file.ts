/**
 * A file that is replaced while this process runs: a service account token, a certificate. It is read again about every
 * minute, as in client-go. Only the first read is awaited: later ones run in the background while the last content stays in
 * use, because a file system that hangs must not delay a renewal. Other hung file operations of the process are enough for
 * that: they all share the four threads of libuv. After `forget()` one read is awaited, for a short time.
 */
import { after } from "@tenure/base";
import { fileProblem, KubeError } from "../errors.ts";
import type { Platform } from "../platform.ts";

const rereadMs = 60_000;
const maxBytes = 1024 * 1024;
/** How long `read` waits after `forget()`. A renewal has at least this much time, and a healthy file takes a millisecond. */
const forcedReadMs = 1_000;
/** A read that takes longer than this is mentioned in the message of a request that fails. */
const slowReadMs = 10_000;

export type RotatingFile = {
  read(): Promise<string>;
  /** The server rejected the content: reads it again, and `read` waits for that for a short time. */
  forget(): void;
  /** A sentence that says why the content may be outdated. Undefined if it is not. */
  problem(): string | undefined;
};

type RotatingFileOptions = {
  readonly path: string;
  /** The content, for messages: "the token". */
  readonly what: string;
  readonly platform: Platform;
  /** The content, if it was read just now. @default it is read when it is needed */
  readonly content?: string | undefined;
  /** Used until the file is read successfully for the first time. */
  readonly fallback?: string | undefined;
};

export function rotatingFile({ path, what, platform, content, fallback }: RotatingFileOptions): RotatingFile {
  const { clock } = platform;
  const nowMs = (): number => clock.now().monoMs;
  let last = content ?? fallback;
  let lastReadMs = content === undefined ? undefined : nowMs();
  let lastError: unknown;
  let forced: Promise<void> | undefined;
  let running: { readonly startedMs: number; readonly done: Promise<void> } | undefined;

  const readNow = async (startedMs: number): Promise<void> => {
    try {
      const found = (await platform.readFile(path, maxBytes)).trim();
      if (found === "") throw new KubeError("BadConfig", `Cannot use ${what} in ${path}: the file is empty.`);
      last = found;
      lastReadMs = startedMs;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    } finally {
      running = undefined;
    }
  };
  /** At most one read is under way, so that a file system that hangs holds at most one thread. */
  const start = (): Promise<void> => {
    const startedMs = nowMs();
    running ??= { startedMs, done: readNow(startedMs) };
    return running.done;
  };
  const readError = (): KubeError => {
    if (lastError instanceof KubeError) return lastError;
    return new KubeError("BadConfig", `Cannot read ${what} from ${path}: ${fileProblem(lastError)}.`, {
      cause: lastError,
    });
  };

  return {
    async read() {
      if (lastReadMs === undefined) await start();
      else if (forced) await forced;
      else if (nowMs() - lastReadMs >= rereadMs) void start();
      if (last === undefined) throw readError();
      return last;
    },
    forget() {
      // Requests that are rejected at the same time share one read.
      if (lastReadMs === undefined || forced) return;
      // A read that is under way may deliver what the server rejected, so another one follows it.
      const reread = running ? running.done.then(start) : start();
      forced = withinMs(reread, forcedReadMs, clock).then(() => {
        forced = undefined;
      });
    },
    problem() {
      if (lastReadMs === undefined) return undefined;
      const inUse = "so the last content is still in use";
      const slowMs = running ? nowMs() - running.startedMs : 0;
      if (slowMs >= slowReadMs) {
        const seconds = Math.round(slowMs / 1_000);
        return `Reading ${what} again from ${path} has not finished for ${seconds} s, ${inUse}. Does the file system respond?`;
      }
      if (lastError === undefined) return undefined;
      const why = lastError instanceof KubeError ? "it is empty" : fileProblem(lastError);
      return `Cannot read ${what} again from ${path}: ${why}, ${inUse}.`;
    },
  };
}

/** Resolves when the promise does, or after `ms`. */
function withinMs(promise: Promise<void>, ms: number, clock: Platform["clock"]): Promise<void> {
  return new Promise((resolve) => {
    const cancelTimer = after(clock, ms, resolve);
    void promise.then(() => {
      cancelTimer();
      resolve();
    });
  });
}
