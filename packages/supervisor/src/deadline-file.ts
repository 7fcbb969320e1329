/**
 * The file that tells the child how long it may still work: one line of JSON. Every renewal replaces the file atomically, so a
 * reader sees the old or the new deadline and never a part of either. Deadlines are written in order. A slow disk makes the
 * file late but never unsafe: the deadline in it is then too early.
 *
 * The start of the child waits for the first deadline of its term, so that one is written synchronously: four calls through the
 * thread pool would delay every handover by milliseconds. On a disk that hangs, this replica then stops renewing and another
 * one takes over, instead of leading without a child.
 */
import { chmodSync, promises as files, mkdtempSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Instant, messageOf } from "@tenure/base";
import { SupervisorError } from "./errors.ts";

export class DeadlineFile {
  readonly #parent: string;
  readonly #onError: (error: Error) => void;
  #folder: string | undefined;
  #next: string | undefined;
  #isReported = false;
  #writing: Promise<void> | undefined;
  /** The term of the last deadline. */
  #token: bigint | undefined;

  constructor(parent: string, onError: (error: Error) => void) {
    this.#parent = parent;
    this.#onError = onError;
  }

  /** Undefined if the folder could not be created. */
  get path(): string | undefined {
    return this.#folder === undefined ? undefined : join(this.#folder, "deadline");
  }

  get folder(): string | undefined {
    return this.#folder;
  }

  /** Creates the folder. The first deadline creates the file. */
  open(): void {
    try {
      const folder = mkdtempSync(join(this.#parent, "tenure-"));
      // The child may switch to another user before it reads the file.
      chmodSync(folder, 0o755);
      this.#folder = folder;
    } catch (error) {
      this.#report(error);
    }
  }

  /** Resolves when the file contains this deadline or a later one. */
  async write(at: Instant, token: bigint): Promise<void> {
    if (this.#folder === undefined) return;
    const line = lineOf(at, token);
    const isFirst = token !== this.#token;
    this.#token = token;
    // A deadline of the previous term may still be on its way to the disk.
    if (isFirst && !this.#writing) {
      this.#writeNow(this.#folder, line);
      return;
    }
    this.#next = line;
    this.#writing ??= this.#writeAll(this.#folder);
    await this.#writing;
  }

  async remove(): Promise<void> {
    await this.#writing;
    const folder = this.#folder;
    this.#folder = undefined;
    if (folder !== undefined) await files.rm(folder, { recursive: true, force: true }).catch(() => {});
  }

  #writeNow(folder: string, line: string): void {
    try {
      writeFileSync(join(folder, "next"), line);
      renameSync(join(folder, "next"), join(folder, "deadline"));
      this.#isReported = false;
    } catch (error) {
      this.#report(error);
    }
  }

  async #writeAll(folder: string): Promise<void> {
    try {
      for (let line = this.#next; line !== undefined; line = this.#next) {
        this.#next = undefined;
        await files.writeFile(join(folder, "next"), line);
        await files.rename(join(folder, "next"), join(folder, "deadline"));
      }
      this.#isReported = false;
    } catch (error) {
      this.#report(error);
    } finally {
      this.#writing = undefined;
    }
  }

  /** Reports an error once until a write succeeds again, instead of at every renewal. */
  #report(cause: unknown): void {
    if (this.#isReported) return;
    this.#isReported = true;
    const message = `Cannot write the deadline file of the child in ${this.#parent}: ${messageOf(cause)}`;
    this.#onError(new SupervisorError("DeadlineFile", message, { cause }));
  }
}

function lineOf(at: Instant, token: bigint): string {
  const deadline = new Date(at.wallMs).toISOString();
  return `${JSON.stringify({ deadline, monotonicMs: Math.floor(at.monoMs), token: String(token) })}\n`;
}
