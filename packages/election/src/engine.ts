/** What an Election needs of a candidate, whether it runs in this thread or in one of its own. */
import type { Instant } from "@tenure/base";
import type { Command } from "./candidate.ts";

export interface Engine {
  send(command: Command): void;
  /** Until when the term's work may run, by both clocks. */
  validUntil(): Instant | undefined;
  leader(): string | undefined;
  /** When something was last heard from the lock, in monotonic milliseconds. */
  heardAtMs(): number;
}
