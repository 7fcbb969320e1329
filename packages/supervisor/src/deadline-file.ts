/**
 * Tells the child how long it may still work: one line of JSON in a file that is replaced as a whole at every renewal, so that
 * a reader sees the old or the new one and never half of either. Written in order; a slow disk makes it late, never wrong:
 * the deadline in it is then too soon.
 */
import { chmod, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Instant } from "@tenure/base";
import { inWords, SupervisorError } from "./errors.ts";

export class DeadlineFile {
  readonly #parent: string;
  readonly #onError: (error: Error) => void;
  #folder: string | undefined;
  #next: string | undefined;
  #isReported = false;
  #writing: Promise<void> | undefined;

  constructor(parent: string | undefined, onError: (error: Error) => void) {
    this.#parent = parent ?? tmpdir();
    this.#onError = onError;
  }

  /** undefined: it could not be made. */
  get path(): string | undefined {
    return this.#folder === undefined ? undefined : join(this.#folder, "deadline");
  }

  get folder(): string | undefined {
    return this.#folder;
  }

  /** Makes the folder. The file comes with the first deadline. */
  async open(): Promise<void> {
    try {
      const folder = await mkdtemp(join(this.#parent, "tenure-"));
      // The child may be another user by then.
      await chmod(folder, 0o755);
      this.#folder = folder;
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Resolves when this deadline, or a later one, is in the file. */
  async write(at: Instant, token: bigint): Promise<void> {
    if (this.#folder === undefined) return;
    this.#next = lineOf(at, token);
    this.#writing ??= this.#writeAll(this.#folder);
    await this.#writing;
  }

  async remove(): Promise<void> {
    await this.#writing;
    const folder = this.#folder;
    this.#folder = undefined;
    if (folder !== undefined) await rm(folder, { recursive: true, force: true }).catch(() => {});
  }

  async #writeAll(folder: string): Promise<void> {
    try {
      for (let line = this.#next; line !== undefined; line = this.#next) {
        this.#next = undefined;
        await writeFile(join(folder, "next"), line);
        await rename(join(folder, "next"), join(folder, "deadline"));
      }
      this.#isReported = false;
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#writing = undefined;
    }
  }

  /** Once until it works again: it would be said at every renewal. */
  #failed(cause: unknown): void {
    if (this.#isReported) return;
    this.#isReported = true;
    const message = `Cannot write the child's deadline file in ${this.#parent}: ${inWords(cause)}`;
    this.#onError(new SupervisorError("DeadlineFile", message, { cause }));
  }
}

export function lineOf(at: Instant, token: bigint): string {
  const deadline = new Date(at.wallMs).toISOString();
  return `${JSON.stringify({ deadline, monotonicMs: Math.floor(at.monoMs), token: String(token) })}\n`;
}
