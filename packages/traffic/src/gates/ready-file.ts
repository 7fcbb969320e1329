/**
 * A file that exists while this replica is in traffic, for an exec readiness probe such as `cat /tmp/ready`.
 * After a restart of the container an old file may still exist, so creating the gate removes it first. The file is written
 * atomically.
 *
 * Its third line says how long the file is valid, and is updated with every renewal. A probe that reads that line
 * (`readyUntil`) is correct even if the process is frozen. A probe that only checks whether the file exists is not: the pod
 * of a frozen leader stays Ready, next to the pod of its successor, until the process continues. Besides, the kubelet runs a
 * probe only every few seconds.
 */
import { rmSync } from "node:fs";
import { access, constants, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { asError, type Clock, messageOf, systemClock, warn } from "@tenure/base";
import { TrafficError } from "../errors.ts";
import type { Gate, GateTerm } from "../gate.ts";

export interface ReadyFileOptions {
  /** @default "/tmp/ready" */
  readonly path?: string;
  /** Called with each error while the gate is open. @default emits a process warning */
  readonly onError?: (error: Error) => void;
  /** @default the system clock */
  readonly clock?: Clock;
}

export const defaultReadyFile = "/tmp/ready";

export function readyFile(options: ReadyFileOptions = {}): ReadyFile {
  return new ReadyFile(options);
}

export class ReadyFile implements Gate {
  readonly name: string;
  readonly path: string;
  readonly #clock: Clock;
  readonly #onError: (error: Error) => void;
  #isOpen = false;
  /** The last operation. Operations run one after the other, so that the last one decides whether the file exists. */
  #last: Promise<void> = Promise.resolve();

  constructor({ path = defaultReadyFile, onError = warn, clock = systemClock }: ReadyFileOptions) {
    if (path === "") throw new TrafficError("InvalidOptions", "Cannot create the ready file: path is empty.");
    this.path = path;
    this.name = `ready file ${path}`;
    this.#clock = clock;
    this.#onError = onError;
    try {
      rmSync(path, { force: true });
    } catch (error) {
      throw new TrafficError(
        "InvalidOptions",
        `Cannot remove the old ready file ${path}, which would make this replica look ready: ${messageOf(error)}.`,
        { cause: error },
      );
    }
  }

  async prepare(): Promise<void> {
    const directory = dirname(this.path);
    try {
      if (!(await stat(directory)).isDirectory()) throw new Error("not a directory");
      await access(directory, constants.W_OK);
    } catch (error) {
      throw new TrafficError(
        "CannotOpen",
        `Cannot write the ready file ${this.path}: ${directory} is not a writable directory (${messageOf(error)}). Mount an emptyDir there, or choose another path.`,
        { cause: error },
      );
    }
  }

  async open(term?: GateTerm): Promise<void> {
    this.#isOpen = true;
    await this.#enqueue(() => this.#write(term));
  }

  renewed(term: GateTerm): void {
    if (!this.#isOpen) return;
    this.#enqueue(async () => {
      if (this.#isOpen) await this.#write(term);
    }).catch((error) => this.#onError(asError(error)));
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#enqueue(async () => {
      try {
        await rm(this.path, { force: true });
      } catch (error) {
        throw new TrafficError(
          "CannotClose",
          `Cannot remove the ready file ${this.path}: ${messageOf(error)}.`,
          {
            cause: error,
          },
        );
      }
    });
  }

  #enqueue(operation: () => Promise<void>): Promise<void> {
    const done = this.#last.then(operation);
    this.#last = done.catch(() => {});
    return done;
  }

  async #write(term: GateTerm | undefined): Promise<void> {
    const temporary = `${this.path}.new`;
    const untilMs = this.#clock.now().wallMs + (term?.remainingMs() ?? 0);
    const text = term
      ? `ok\ntoken ${BigInt(term.token)}\nuntil ${new Date(untilMs).toISOString()}\n`
      : "ok\n";
    try {
      // Never write through a symbolic link that somebody put there.
      await rm(temporary, { force: true });
      const file = await open(temporary, "wx", 0o644);
      try {
        await file.writeFile(text);
      } finally {
        await file.close();
      }
      if (term && !term.isValid()) {
        await rm(temporary, { force: true });
        throw new Error("the term has expired");
      }
      await rename(temporary, this.path);
    } catch (error) {
      throw new TrafficError("CannotOpen", `Cannot write the ready file ${this.path}: ${messageOf(error)}.`, {
        cause: error,
      });
    }
  }
}

/** Until when a ready file is valid, in milliseconds since 1970; undefined if the text does not say. */
export function readyUntil(text: string): number | undefined {
  const [, until = ""] = /^until (\S+)$/m.exec(text) ?? [];
  const ms = Date.parse(until);
  return Number.isNaN(ms) ? undefined : ms;
}
