/** The messages between the supervisor and its watchdog: lines of JSON, over one pipe in each direction. */
import type { Instant } from "@tenure/base";

export type ToWatchdog =
  /** Kill the child at this time, on whichever clock it comes first, unless a newer message arrives. */
  | { readonly type: "deadline"; readonly at: Instant }
  /** Remove these files when the term ends without the supervisor: they say that this replica leads. */
  | { readonly type: "files"; readonly paths: readonly string[] }
  /** Remove this folder if the supervisor ends without doing so. */
  | { readonly type: "folder"; readonly path: string }
  /** This process group belongs to the child. */
  | { readonly type: "group"; readonly group: number }
  /** This process group is empty, and the system may reuse its number. */
  | { readonly type: "forget"; readonly group: number }
  /** The term is over. There is no deadline until the next one. */
  | { readonly type: "no-deadline" }
  /** Answer after all messages before this one are handled. */
  | { readonly type: "ask"; readonly question: number }
  /** Exit: no process is left, and no other child will be started. */
  | { readonly type: "done" };

export type FromWatchdog =
  /** The watchdog has handled all messages before this question. Question 0: it is listening. */
  | { readonly type: "answer"; readonly question: number }
  /** The deadline passed without a newer one. The watchdog killed these processes, starting at that monotonic time. */
  | { readonly type: "killed"; readonly pids: readonly number[]; readonly atMs: number };

export function toLine(message: ToWatchdog | FromWatchdog): string {
  return `${JSON.stringify(message)}\n`;
}

/** Turns pieces of text into messages. Does not validate them: both ends have the same version. */
export function messageReader<Message>(onMessage: (message: Message) => void): (piece: string) => void {
  let partial = "";
  return (piece) => {
    const lines = (partial + piece).split("\n");
    partial = lines.pop() ?? "";
    for (const line of lines) onMessage(JSON.parse(line) as Message);
  };
}
