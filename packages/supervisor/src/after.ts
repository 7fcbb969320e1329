/** What follows when a child is gone, or did not come to be: one place for the decision, as a pure table. */
import type { ChildExit } from "./events.ts";
import type { OnExit } from "./options.ts";

/** How a child's stint ended. Nothing is left of it when this is asked. */
export type StintEnd =
  /** The term ended, on purpose or by loss. */
  | { readonly type: "term-ended" }
  /** It could not be started at all; a shell would end with this code. */
  | { readonly type: "not-spawned"; readonly why: string; readonly exitCode: number }
  /** It did not become ready in time. */
  | { readonly type: "not-ready"; readonly why: string }
  /** It ended by itself. */
  | { readonly type: "exited"; readonly why: string; readonly exit: ChildExit; readonly wasReady: boolean }
  | { readonly type: "unhealthy"; readonly why: string }
  /** A gate cannot be opened: it works, and nobody reaches it. */
  | { readonly type: "unreachable"; readonly why: string }
  /** There is no watchdog, and none can be had. */
  | { readonly type: "unguarded"; readonly why: string };

export type NextStep =
  /** The term's work is over. */
  | "return"
  /** As the restart policy says. */
  | "restart"
  /** Leadership is given up, with a cool-down for others to win. */
  | "give-up"
  /** Leadership is released, as for any work that ended. */
  | "release"
  /** The run ends with the child's exit code. */
  | "exit";

/** `hasLed`: an earlier stint of this term became ready. */
export function nextStep(end: StintEnd, onExit: OnExit, hasLed: boolean): NextStep {
  switch (end.type) {
    case "term-ended":
      return "return";
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
