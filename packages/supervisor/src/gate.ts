import type { TermLike } from "./office.ts";

/** A way by which traffic reaches the leader. Opened when the child is ready, closed after it stopped and before the release. */
export interface Gate {
  readonly name: string;
  open(term: TermLike): Promise<void>;
  /** At every renewal while the gate is open, to look whether it still is. */
  renewed?(term: TermLike): void;
  /** Idempotent, and must settle. After a loss it is called at once, while the child is being killed. */
  close(): Promise<void>;
}
