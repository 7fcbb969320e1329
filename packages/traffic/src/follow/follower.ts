/** The part that both followers share: they compare the named pod with this pod, and keep the ready file in step. */
import { asError, warn } from "@tenure/base";
import type { ReadyFile } from "../gates/ready-file.ts";

/** The pod that a person named to receive traffic. */
export interface NamedPod {
  /** Its name; undefined if no pod is named. */
  readonly leader: string | undefined;
  /** Whether it is this pod. */
  readonly isNamed: boolean;
}

export interface FollowOptions {
  /** The name of this pod. */
  readonly pod: string;
  /** Exists while this pod is named. @default none */
  readonly readyFile?: ReadyFile;
  /** Called after the first reading and after every change. */
  readonly onChange?: (named: NamedPod) => void;
  /** Called with each error. The follower continues. @default emits a process warning */
  readonly onError?: (error: Error) => void;
  /** Stops the follower and removes the ready file. */
  readonly signal: AbortSignal;
}

export class Follower {
  readonly #options: FollowOptions;
  #last: NamedPod | undefined;

  constructor(options: FollowOptions) {
    this.#options = options;
  }

  /** @param text the name as it was read; undefined if there is none */
  async update(text: string | undefined): Promise<void> {
    const leader = text?.trim() || undefined;
    if (this.#last && this.#last.leader === leader) return;
    const named = { leader, isNamed: leader !== undefined && leader === this.#options.pod };
    this.#last = named;
    await this.#setReady(named.isNamed);
    this.#options.onChange?.(named);
  }

  report(error: unknown): void {
    (this.#options.onError ?? warn)(asError(error));
  }

  async stop(): Promise<void> {
    await this.#setReady(false);
  }

  async #setReady(isReady: boolean): Promise<void> {
    try {
      await (isReady ? this.#options.readyFile?.open() : this.#options.readyFile?.close());
    } catch (error) {
      this.report(error);
    }
  }
}
