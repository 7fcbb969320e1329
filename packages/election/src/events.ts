import type { EndReason, Failure } from "@tenure/core";
import type { Term } from "./term.ts";

/** What can be listened to, in the order in which it happens. */
export interface ElectionEvents {
  /** Another leader, or nobody: the holder's time ran out or it let go. */
  "leader-changed": { readonly leader: string | undefined };
  "term-started": { readonly term: Term };
  renewed: { readonly term: Term };
  /** The work has stopped and the term is over. `released`: a successor need not wait. */
  "term-ended": { readonly term: Term; readonly reason: EndReason; readonly released: boolean };
  /** The work still runs at the hard deadline. With `onOverrun: "exit"` the process ends right after this. */
  overrun: { readonly term: Term };
  /** Something went wrong that the election goes on in spite of: a failed request, or what the work threw. */
  error: { readonly error: Error; readonly failure?: Failure };
}
