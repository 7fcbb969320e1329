/**
 * A file that is there while this replica is in traffic, for an exec readiness probe such as `cat /tmp/ready`.
 * A leftover of an earlier life of this pod is removed when the gate is made, before anything else happens: a container
 * that was restarted may find it. The file appears whole or not at all.
 *
 * Its third line says until when it is to be believed, and is renewed with the lease: a probe that reads it (`readyUntil`)
 * is right also for a process that is frozen. A probe that only asks whether the file is there is not: a frozen leader's pod
 * stays Ready until the process goes on, beside its successor's. And a kubelet asks only every few seconds.
 */
import { rmSync } from "node:fs";
import { access, constants, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Clock } from "@tenure/base";
import { messageOf, TrafficError } from "../errors.ts";
import type { Gate, GateTerm } from "../gate.ts";
import { systemClock, warn } from "../platform.ts";

export interface ReadyFileOptions {
  /** @default "/tmp/ready" */
  readonly path?: string;
  /** What goes wrong while the gate is open. @default a warning of the process */
  readonly onError?: (error: Error) => void;
  /** @default the machine's */
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
  /** One write after the other, so that what was asked for last is what is there in the end. */
  #last: Promise<void> = Promise.resolve();

  constructor({ path = defaultReadyFile, onError = warn, clock = systemClock }: ReadyFileOptions) {
    if (path === "") throw new TrafficError("InvalidOptions", "Cannot use a ready file without a path.");
    this.path = path;
    this.name = `ready file ${path}`;
    this.#clock = clock;
    this.#onError = onError;
    try {
      rmSync(path, { force: true });
    } catch (error) {
      throw new TrafficError(
        "InvalidOptions",
        `Cannot remove the leftover ready file ${path}, so that this replica would look ready: ${messageOf(error)}.`,
        { cause: error },
      );
    }
  }

  async prepare(): Promise<void> {
    const folder = dirname(this.path);
    try {
      if (!(await stat(folder)).isDirectory()) throw new Error("it is no folder");
      await access(folder, constants.W_OK);
    } catch (error) {
      throw new TrafficError(
        "CannotOpen",
        `Cannot write the ready file ${this.path}: ${folder} is not a folder that this user may write to (${messageOf(error)}). Mount an emptyDir there, or choose another path.`,
        { cause: error },
      );
    }
  }

  async open(term?: GateTerm): Promise<void> {
    this.#isOpen = true;
    await this.#after(() => this.#write(term));
  }

  renewed(term: GateTerm): void {
    if (!this.#isOpen) return;
    this.#after(() => (this.#isOpen ? this.#write(term) : Promise.resolve())).catch((error) =>
      this.#onError(error),
    );
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#after(async () => {
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

  #after(act: () => Promise<void>): Promise<void> {
    const done = this.#last.then(act);
    this.#last = done.catch(() => {});
    return done;
  }

  async #write(term: GateTerm | undefined): Promise<void> {
    const draft = `${this.path}.new`;
    const untilMs = this.#clock.now().wallMs + (term?.remainingMs() ?? 0);
    const text = term ? `ok\ntoken ${term.token}\nuntil ${new Date(untilMs).toISOString()}\n` : "ok\n";
    try {
      // Never through a link that somebody put there.
      await rm(draft, { force: true });
      const file = await open(draft, "wx", 0o644);
      try {
        await file.writeFile(text);
      } finally {
        await file.close();
      }
      if (term && !term.isValid()) {
        await rm(draft, { force: true });
        throw new Error("the term has run out");
      }
      await rename(draft, this.path);
    } catch (error) {
      throw new TrafficError("CannotOpen", `Cannot write the ready file ${this.path}: ${messageOf(error)}.`, {
        cause: error,
      });
    }
  }
}

/** Until when a ready file is to be believed, in milliseconds since 1970; undefined if it does not say. */
export function readyUntil(text: string): number | undefined {
  const [, until = ""] = /^until (\S+)$/m.exec(text) ?? [];
  const ms = Date.parse(until);
  return Number.isNaN(ms) ? undefined : ms;
}
