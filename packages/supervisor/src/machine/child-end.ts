/** What the supervisor does after a child ended or could not be started, as a pure table. */
import type { ChildExit } from "../events.ts";
import type { OnExit } from "../options.ts";

/** Why a child ended. By then the child and its descendants have exited. */
export type ChildEnd =
  /** The term ended, on purpose or by loss. */
  | { readonly type: "term-ended" }
  /** The child could not be started. `exitCode` is what a shell would return. */
  | { readonly type: "not-spawned"; readonly why: string; readonly exitCode: number }
  /** The child did not become ready in time. */
  | { readonly type: "not-ready"; readonly why: string }
  /** The child exited by itself. */
  | { readonly type: "exited"; readonly why: string; readonly exit: ChildExit; readonly wasReady: boolean }
  /** The work is done, by this child or earlier, and that is recorded. */
  | { readonly type: "completed" }
  | { readonly type: "unhealthy"; readonly why: string }
  /** A gate cannot be opened, so no traffic reaches the child. */
  | { readonly type: "unreachable"; readonly why: string }
  /** There is no watchdog, and none could be started. */
  | { readonly type: "unguarded"; readonly why: string };

export type NextStep =
  /** The work of the term is over. */
  | "return"
  /** Restart the child as the restart policy allows. */
  | "restart"
  /** Give up leadership, with a cool-down so that another replica can win. */
  | "give-up"
  /** Release leadership, as after any work that returns. */
  | "release"
  /** End the run with the exit code of the child. */
  | "exit";

/** @param hasLed whether an earlier child of this term became ready */
export function decideAfterEnd(end: ChildEnd, onExit: OnExit, hasLed: boolean): NextStep {
  switch (end.type) {
    case "term-ended":
      return "return";
    case "completed":
      return "exit";
    case "unguarded":
    case "unreachable":
      return "give-up";
    case "unhealthy":
      return "restart";
    case "not-ready":
      return hasLed ? "restart" : "give-up";
    case "not-spawned":
      if (onExit === "exit") return "exit";
      return hasLed ? "restart" : "give-up";
    case "exited":
      if (onExit !== "restart") return onExit;
      return end.wasReady || hasLed ? "restart" : "give-up";
  }
}
