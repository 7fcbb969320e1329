/** What both ways of following have in common: who is named, and what to do when that changes. */
import { messageOf } from "../errors.ts";
import type { ReadyFile } from "../gates/ready-file.ts";
import { warn } from "../platform.ts";

export interface Named {
  /** Who is named; undefined when nobody is. */
  readonly leader: string | undefined;
  /** Whether it is this pod. */
  readonly isNamed: boolean;
}

export interface FollowOptions {
  /** This pod's name. */
  readonly pod: string;
  /** Written while this pod is named, removed while it is not. @default none */
  readonly readyFile?: ReadyFile;
  /** At the first reading, and at every change. */
  readonly onChange?: (named: Named) => void;
  /** What goes wrong; the following goes on. @default a warning of the process */
  readonly onError?: (error: Error) => void;
  /** Ends it; the ready file is removed. */
  readonly signal: AbortSignal;
}

export class Follower {
  readonly #options: FollowOptions;
  #last: Named | undefined;

  constructor(options: FollowOptions) {
    this.#options = options;
  }

  async heard(text: string | undefined): Promise<void> {
    const leader = text?.trim() || undefined;
    if (this.#last && this.#last.leader === leader) return;
    const named = { leader, isNamed: leader !== undefined && leader === this.#options.pod };
    this.#last = named;
    await this.#set(named.isNamed);
    this.#options.onChange?.(named);
  }

  failed(error: unknown): void {
    (this.#options.onError ?? warn)(error instanceof Error ? error : new Error(messageOf(error)));
  }

  async end(): Promise<void> {
    await this.#set(false);
  }

  async #set(isNamed: boolean): Promise<void> {
    try {
      await (isNamed ? this.#options.readyFile?.open() : this.#options.readyFile?.close());
    } catch (error) {
      this.failed(error);
    }
  }
}
