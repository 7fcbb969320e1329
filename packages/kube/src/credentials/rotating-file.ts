/**
 * A file that is replaced while this process runs: a service account token, a certificate. It is read again about every
 * minute, as in client-go, and at once after `forget()`. While the file cannot be read, the last content stays in use.
 */
import { fileProblem, KubeError } from "../errors.ts";
import type { Platform } from "../platform.ts";

const rereadMs = 60_000;
const maxBytes = 1024 * 1024;

export type RotatingFile = {
  read(): Promise<string>;
  /** Makes the next `read` read the file. */
  forget(): void;
};

type RotatingFileOptions = {
  readonly path: string;
  /** The content, for messages: "the token". */
  readonly what: string;
  readonly platform: Platform;
  /** Used until the file is read successfully for the first time. */
  readonly fallback?: string | undefined;
};

export function rotatingFile({ path, what, platform, fallback }: RotatingFileOptions): RotatingFile {
  let last = fallback;
  let readMs: number | undefined;
  let running: Promise<string> | undefined;

  const readNow = async (): Promise<string> => {
    try {
      const content = (await platform.readFile(path, maxBytes)).trim();
      if (content === "")
        throw new KubeError("BadConfig", `Cannot use ${what} in ${path}: the file is empty.`);
      last = content;
      readMs = platform.clock.now().monoMs;
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
      const isFresh = readMs !== undefined && platform.clock.now().monoMs - readMs < rereadMs;
      if (isFresh && last !== undefined) return Promise.resolve(last);
      running ??= readNow().finally(() => {
        running = undefined;
      });
      return running;
    },
    forget() {
      readMs = undefined;
      running = undefined;
    },
  };
}
