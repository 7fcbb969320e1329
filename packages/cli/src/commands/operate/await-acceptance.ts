/**
 * A transfer is only a proposal until the named candidate accepts it. If nobody does, the command withdraws it: otherwise a
 * candidate that starts with this name much later would take over by surprise.
 */
import { type Clock, quote } from "@tenure/base";
import { orderAnnotations } from "@tenure/election/internal";
import { KubeError } from "@tenure/kube";
import { describeState } from "../../display/descriptions.ts";
import { spell } from "../../display/durations.ts";
import { withoutControls } from "../../display/paint.ts";
import { awaitEffect } from "../../elections/await-effect.ts";
import type { Reader } from "../../elections/find.ts";
import { type Annotations, type GivenOrder, giveOrder } from "../../elections/give-order.ts";
import { type ElectionState, leaseSecondsOf } from "../../elections/state.ts";
import { CliError } from "../../errors.ts";
import { isSameTerm } from "./order-outcomes.ts";

/** Removes a transfer, and what was answered to an earlier one. */
export const noTransfer: Annotations = {
  [orderAnnotations.transfer]: null,
  [orderAnnotations.transferAccepted]: null,
};

export interface Proposal {
  readonly where: Parameters<typeof giveOrder>[1];
  /** The state in which the order was given. */
  readonly given: ElectionState;
  readonly to: string;
  readonly timeoutMs: number;
}

/** A candidate with a watch answers within milliseconds. This leaves time for a slow API server. */
const shortestWaitMs = 5_000;

/** A candidate whose watch is broken reads the lock at least once in a third of the lease duration. */
export function acceptanceWaitMs({ given, timeoutMs }: Pick<Proposal, "given" | "timeoutMs">): number {
  const pollMs = (leaseSecondsOf(given.record) * 1_000) / 3;
  return Math.min(Math.max(shortestWaitMs, pollMs), timeoutMs);
}

/** Whether the order stands and nobody has accepted it. */
export function isUnanswered(
  { given, to }: Pick<Proposal, "given" | "to">,
  state: ElectionState | undefined,
): boolean {
  if (state === undefined || !isSameTerm(given, state)) return false;
  return state.orders.transferTo === to && !state.orders.transferAccepted;
}

/** Undefined if the wait for the leader may begin; otherwise why the order failed. */
export async function awaitAcceptance(
  reader: Reader,
  clock: Clock,
  proposal: Proposal,
  interrupt: AbortSignal,
): Promise<string | undefined> {
  const waitMs = acceptanceWaitMs(proposal);
  const ending = await awaitEffect(
    reader,
    clock,
    interrupt,
    proposal.given,
    waitMs,
    // What became of the order is decided by the wait for its effect.
    (state) => (isUnanswered(proposal, state) ? undefined : { ok: true, message: "" }),
  );
  if (ending.kind !== "timeout") return undefined;
  const nobody = `No candidate named ${quote(proposal.to)} answered within ${spell(waitMs)}`;
  const withdrawn = await withdraw(reader, proposal, nobody);
  // It was accepted at the last moment, or another user or leader was faster.
  if (withdrawn.after === undefined) return undefined;
  return `${nobody}, so the order was withdrawn. ${standingOf(withdrawn.after)}. ${advice(proposal)}`;
}

/** The API server puts this in sequence with the acceptance: an order that was accepted is not withdrawn. */
async function withdraw(reader: Reader, proposal: Proposal, nobody: string): Promise<GivenOrder> {
  try {
    return await giveOrder(reader, proposal.where, (state) =>
      isUnanswered(proposal, state) ? noTransfer : undefined,
    );
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    // The request may have been performed all the same.
    const message = `${nobody}, and the order may still stand, because withdrawing it failed: ${error.message}`;
    throw new CliError("Failed", message, { cause: error });
  }
}

function standingOf(state: ElectionState): string {
  return state.leader === undefined
    ? describeState(state)
    : `The leader is still ${withoutControls(state.leader)}`;
}

function advice({ where: { name, namespace } }: Proposal): string {
  return (
    "A candidate is named by its --id, by default the name of its pod (POD_NAME), and candidates on client-go do not answer; " +
    `see tenure status ${name} -n ${namespace}`
  );
}
