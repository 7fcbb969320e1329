/** Injects the faults of the network between one process and the API server. */
import type { Connection, ErrorKind } from "./connection.ts";
import type { Fault } from "./plan.ts";

export function injectIntoLink(
  fault: Pick<Fault, "kind" | "amount">,
  link: Connection,
  until: (end: () => void) => void,
): void {
  switch (fault.kind) {
    case "partition":
    case "cut-requests":
    case "cut-answers":
      link.requestsCut ||= fault.kind !== "cut-answers";
      link.answersCut ||= fault.kind !== "cut-requests";
      until(() => {
        link.requestsCut = false;
        link.answersCut = false;
      });
      return;
    case "slow":
      link.slowMs = fault.amount * 4_000;
      until(() => {
        link.slowMs = 0;
      });
      return;
    case "lose-answers":
      link.loseAnswers = fault.amount;
      until(() => {
        link.loseAnswers = 0;
      });
      return;
    case "duplicate-requests":
      link.duplicateRequests = fault.amount;
      until(() => {
        link.duplicateRequests = 0;
      });
      return;
    case "one-object-fails":
      link.rejectedObject = fault.amount < 0.5 ? 0 : 1;
      until(() => {
        link.rejectedObject = undefined;
      });
      return;
    case "slow-credentials":
      link.slowCredentialsMs = fault.amount * 90_000;
      until(() => {
        link.slowCredentialsMs = 0;
      });
      return;
    case "watch-stall":
      link.watchStalled = true;
      until(() => {
        link.watchStalled = false;
      });
      return;
    case "watch-gap":
      link.watchDropsEvents = true;
      until(() => {
        link.watchDropsEvents = false;
      });
      return;
    case "watch-silent":
      // Until the process restarts.
      link.watchSilent = true;
      return;
    case "conflict":
    case "throttled":
    case "denied":
    case "proxy":
    case "network":
    case "cut":
    case "internal":
    case "unavailable":
      link.errors = { kind: fault.kind satisfies ErrorKind, probability: fault.amount };
      until(() => {
        link.errors = undefined;
      });
      return;
  }
}
