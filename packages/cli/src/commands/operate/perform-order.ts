/** Gives an order and waits until it has taken effect. For the commands of an operator and for the page of `tenure ui`. */
import type { Clock } from "@tenure/base";
import { formatTransfer, orderAnnotations } from "@tenure/election/internal";
import { describeState, titleOf } from "../../display/descriptions.ts";
import { spell } from "../../display/durations.ts";
import { withoutControls } from "../../display/paint.ts";
import { awaitEffect, type Ending, type Outcome } from "../../elections/await-effect.ts";
import type { Reader } from "../../elections/find.ts";
import { type Annotations, giveOrder } from "../../elections/give-order.ts";
import type { LockKind } from "../../elections/lock-object.ts";
import { pauseAnnotations } from "../../elections/orders.ts";
import type { ElectionState } from "../../elections/state.ts";
import { CliError } from "../../errors.ts";
import { awaitAcceptance, noTransfer } from "./await-acceptance.ts";
import {
  type OutcomeOf,
  pauseOutcome,
  resumeOutcome,
  stepDownOutcome,
  transferOutcome,
} from "./order-outcomes.ts";

export type OrderName = "step-down" | "transfer" | "pause" | "resume";

export interface OrderRequest {
  readonly which: OrderName;
  readonly where: { readonly kinds?: readonly LockKind[]; readonly namespace: string; readonly name: string };
  /** For transfer. */
  readonly to?: string | undefined;
  /** For pause: why, and who asks. */
  readonly reason?: string | undefined;
  readonly by?: string | undefined;
  readonly timeoutMs: number;
  /** Ends the wait. Without it there is none. */
  readonly interrupt: AbortSignal | undefined;
}

export interface PerformedOrder extends Outcome {
  /** Undefined if there was nothing to wait for. */
  readonly tookMs?: number;
}

interface Order {
  /** What to write; undefined if it is written already; throws if the order makes no sense. */
  decide(state: ElectionState): Annotations | undefined;
  outcomeOf(before: ElectionState): OutcomeOf;
  /** The message if the command does not wait. */
  given(before: ElectionState): string;
  /** The message if there is nothing to write and nothing to wait for. */
  already?(state: ElectionState): string | undefined;
  /** The message after a timeout. */
  late(before: ElectionState, last: ElectionState, within: string): string;
}

export async function performOrder(
  reader: Reader,
  clock: Clock,
  request: OrderRequest,
): Promise<PerformedOrder> {
  const { which, where, to = "", timeoutMs, interrupt } = request;
  const made = orderFor(request);
  const startedMs = clock.now().monoMs;
  const passedMs = () => clock.now().monoMs - startedMs;
  const { before, after } = await giveOrder(reader, where, (state) => made.decide(state));
  const already = after === undefined ? made.already?.(before) : undefined;
  if (already !== undefined) return { ok: true, message: already, leader: before.leader };
  if (interrupt === undefined) return { ok: true, message: made.given(before), leader: before.leader };
  const given = after ?? before;
  const unanswered =
    which === "transfer"
      ? await awaitAcceptance(reader, clock, { where, given, to, timeoutMs }, interrupt)
      : undefined;
  if (unanswered !== undefined)
    return { ok: false, message: unanswered, leader: before.leader, tookMs: passedMs() };
  const remainingMs = Math.max(timeoutMs - passedMs(), 0);
  const ending = await awaitEffect(reader, clock, interrupt, given, remainingMs, made.outcomeOf(before));
  if (ending.kind === "outcome") return { ...ending.outcome, tookMs: passedMs() };
  return { ok: false, message: unfinished(ending, made, before, timeoutMs), tookMs: passedMs() };
}

function unfinished(ending: Ending, made: Order, before: ElectionState, timeoutMs: number): string {
  if (ending.kind !== "timeout")
    return "Stopped waiting. The order stays in force; check it with tenure status";
  const within = `within ${spell(timeoutMs)}`;
  if (ending.trouble !== undefined) {
    return `The result of the order is unknown ${within}, because the connection failed: ${ending.trouble}`;
  }
  return made.late(before, ending.last ?? before, within);
}

function orderFor({ which, to = "", reason, by }: OrderRequest): Order {
  switch (which) {
    case "step-down":
      return stepDown;
    case "transfer":
      return transferTo(to);
    case "pause":
      return pauseFor(reason, by);
    case "resume":
      return resume;
  }
}

function requireLeader(state: ElectionState, cannot: string): void {
  if (state.standing === "led") return;
  throw new CliError("Failed", `Cannot ${cannot} in ${titleOf(state)}. ${describeState(state)}`);
}

/** Why a leader may not have obeyed. */
function notObeyed(before: ElectionState, last: ElectionState, within: string, what: string): string {
  const holder = withoutControls(before.record.holderIdentity);
  if (last.standing !== "led")
    return `${holder} ended its term, but nobody took over ${within}: is there another candidate?`;
  return (
    `${holder} did not ${what} ${within} and still renews its lease: either it is not a tenure candidate (client-go and others ` +
    "do not read orders), or its work takes longer to stop (raise --timeout)."
  );
}

const lapses = " The order expires with this term.";

const stepDown: Order = {
  decide(state) {
    requireLeader(state, "make the leader step down");
    if (state.orders.stepDown) return undefined;
    return {
      ...noTransfer,
      [orderAnnotations.stepDown]: String(state.record.leaseTransitions),
    };
  },
  outcomeOf: stepDownOutcome,
  given: (before) => `${withoutControls(before.record.holderIdentity)} was told to step down`,
  late(before, last, within) {
    const text = notObeyed(before, last, within, "step down");
    return last.standing === "led" ? `${text}${lapses}` : text;
  },
};

function transferTo(to: string): Order {
  return {
    decide(state) {
      requireLeader(state, `transfer leadership to ${withoutControls(to)}`);
      if (state.leader === to || state.orders.transferTo === to) return undefined;
      const transfer = { transitions: state.record.leaseTransitions, to };
      return {
        ...noTransfer,
        [orderAnnotations.transfer]: formatTransfer(transfer),
        [orderAnnotations.stepDown]: null,
      };
    },
    already: (state) =>
      state.leader === to ? `${withoutControls(to)} already leads, nothing to do` : undefined,
    outcomeOf: (before) => transferOutcome(before, to),
    given: (before) =>
      `${withoutControls(to)} was asked to take over from ${withoutControls(before.record.holderIdentity)}`,
    late(before, last, within) {
      const text = notObeyed(before, last, within, "hand over");
      return last.standing === "led" ? `${text}${lapses}` : text;
    },
  };
}

const pauseFor = (reason: string | undefined, by: string | undefined): Order => ({
  decide: (state) =>
    state.orders.paused
      ? undefined
      : {
          [orderAnnotations.paused]: "true",
          [pauseAnnotations.reason]: reason || null,
          [pauseAnnotations.by]: by || null,
        },
  outcomeOf: pauseOutcome,
  given: (before) =>
    `${titleOf(before)} is paused: its leader, if any, ends its term, and no candidate takes over`,
  already: (state) =>
    state.orders.paused && state.standing !== "led"
      ? `${titleOf(state)} is already paused, and nobody leads`
      : undefined,
  late: (before, last, within) =>
    `${notObeyed(before, last, within, "end its term")} The pause stays in force; end it with ` +
    `tenure resume ${before.name} -n ${before.namespace}.`,
});

const resume: Order = {
  decide: (state) =>
    state.orders.paused
      ? {
          [orderAnnotations.paused]: null,
          [pauseAnnotations.reason]: null,
          [pauseAnnotations.by]: null,
        }
      : undefined,
  outcomeOf: resumeOutcome,
  given: (before) => `${titleOf(before)} is resumed`,
  already: (state) => (state.orders.paused ? undefined : `${titleOf(state)} is not paused, nothing to do`),
  late: (before, _last, within) =>
    `${titleOf(before)} is resumed, but nobody took over ${within}: is a candidate running?`,
};
