import type { EndReason, Failure } from "@tenure/core";
import type { Term } from "./term.ts";

/** The events of an election. They are emitted in the order in which things happen. */
export interface ElectionEvents {
  /** Another candidate leads now, or nobody does because the holder's lease expired or was released. */
  "leader-changed": { readonly leader: string | undefined };
  /** This process leads. The work starts right after this event. */
  "term-started": { readonly term: Term };
  /** The lease was renewed: `term.remainingMs()` has grown. */
  renewed: { readonly term: Term };
  /** The work has stopped and the term is over. If it was `released`, a successor need not wait for the lease to expire. */
  "term-ended": { readonly term: Term; readonly reason: EndReason; readonly released: boolean };
  /** The work still runs at the hard deadline. With `onOverrun: "exit"` the process ends right after this event. */
  overrun: { readonly term: Term };
  /** A request failed, or the work threw. The election goes on. */
  error: { readonly error: Error; readonly failure?: Failure };
}
