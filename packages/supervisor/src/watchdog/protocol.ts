/** What the supervisor and its watchdog say to each other: words in lines, over a pipe each way. */
import type { Instant } from "@tenure/base";

export type ToWatchdog =
  /** There may be a child; without a newer word it must be dead by then, on whichever clock that is sooner. */
  | { readonly type: "deadline"; readonly at: Instant }
  /** A folder to remove if the supervisor cannot do it any more. */
  | { readonly type: "folder"; readonly path: string }
  /** There is a process group to kill. */
  | { readonly type: "group"; readonly group: number }
  /** Nothing is left of it, and its number may be somebody else's from now on. */
  | { readonly type: "forget"; readonly group: number }
  /** Nothing is left of the child: nothing to watch over until the next deadline. */
  | { readonly type: "idle" }
  /** Say "ready" when you have heard all this. */
  | { readonly type: "ask" }
  /** Nothing is left, and nothing will be started any more: go. */
  | { readonly type: "done" };

export type FromWatchdog =
  /** All that was said before it was asked is heard. */
  | { readonly type: "ready" }
  /** The deadline passed without a newer one, and these were killed, at that monotonic time. */
  | { readonly type: "killed"; readonly pids: readonly number[]; readonly atMs: number };

export function toLine(message: ToWatchdog | FromWatchdog): string {
  return `${JSON.stringify(message)}\n`;
}

/** Turns pieces of text into messages. What is no message is left out: both ends are of one version. */
export function messageReader<Message>(onMessage: (message: Message) => void): (piece: string) => void {
  let partial = "";
  return (piece) => {
    const lines = (partial + piece).split("\n");
    partial = lines.pop() ?? "";
    for (const line of lines) onMessage(JSON.parse(line) as Message);
  };
}
