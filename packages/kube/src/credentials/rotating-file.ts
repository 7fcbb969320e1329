/**
 * A file that somebody replaces while we run: a service account token, a certificate. Read again about every minute, as
 * client-go does, and at once after `forget()`. While the file cannot be read, what was read last stays in use.
 */
import { fileProblem, KubeError } from "../errors.ts";
import type { Platform } from "../platform.ts";

const rereadMs = 60_000;
const maxBytes = 1024 * 1024;

export type RotatingFile = {
  read(): Promise<string>;
  /** The next `read` goes to the disk. */
  forget(): void;
};

export type RotatingFileOptions = {
  readonly path: string;
  /** For messages: "the token". */
  readonly what: string;
  readonly platform: Platform;
  /** Used until the file could be read once. */
  readonly fallback?: string | undefined;
};

export function rotatingFile({ path, what, platform, fallback }: RotatingFileOptions): RotatingFile {
  let last = fallback;
  let readAt: number | undefined;
  let running: Promise<string> | undefined;

  const readNow = async (): Promise<string> => {
    try {
      const content = (await platform.readFile(path, maxBytes)).trim();
      if (content === "")
        throw new KubeError("BadConfig", `Cannot use ${what} in ${path}: the file is empty.`);
      last = content;
      readAt = platform.monotonicMs();
      return content;
    } catch (error) {
      if (last !== undefined) return last;
      if (error instanceof KubeError) throw error;
      throw new KubeError("BadConfig", `Cannot read ${what} from ${path}: ${fileProblem(error)}.`, {
        cause: error,
      });
    }
  };

  return {
    read() {
      const isFresh = readAt !== undefined && platform.monotonicMs() - readAt < rereadMs;
      if (isFresh && last !== undefined) return Promise.resolve(last);
      running ??= readNow().finally(() => {
        running = undefined;
      });
      return running;
    },
    forget() {
      readAt = undefined;
      running = undefined;
    },
  };
}
