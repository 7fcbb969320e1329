/** `tenure step-down`, `transfer`, `pause` and `resume`: writes the order, then waits until it has taken effect. */
import { type Problem, parseDuration } from "@tenure/base";
import { formatTransfer, orderAnnotations } from "@tenure/election/internal";
import { durationProblems, type OperateFlags, type Session } from "../../cluster/session.ts";
import { describeState, titleOf } from "../../display/descriptions.ts";
import { spell } from "../../display/durations.ts";
import { serialize } from "../../display/output.ts";
import { withoutControls } from "../../display/paint.ts";
import { seconds } from "../../display/state-data.ts";
import { awaitEffect, type Ending, type Outcome } from "../../elections/await-effect.ts";
import { type Annotations, giveOrder } from "../../elections/give-order.ts";
import type { ElectionState } from "../../elections/state.ts";
import { CliError } from "../../errors.ts";
import { firstSignal } from "../../signals.ts";
import { awaitAcceptance, noTransfer } from "./await-acceptance.ts";
import {
  type OutcomeOf,
  pauseOutcome,
  resumeOutcome,
  stepDownOutcome,
  transferOutcome,
} from "./order-outcomes.ts";
import { requireCandidate } from "./require-candidate.ts";

export interface OrderFlags extends OperateFlags {
  wait: boolean;
  /** A duration. */
  timeout: string;
  to?: string;
  /** Ask a candidate that does not show itself, too. */
  unlisted?: boolean;
}

export function orderProblems({ timeout }: OrderFlags): Problem[] {
  return durationProblems("timeout", timeout);
}

export type OrderName = "step-down" | "transfer" | "pause" | "resume";

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

export async function order(which: OrderName, name: string, session: Session<OrderFlags>): Promise<number> {
  const { flags, namespace, platform } = session;
  const made = orderFor(which, flags.to ?? "");
  const startedMs = session.monotonicMs();
  const timeoutMs = parseDuration(flags.timeout) as number;
  // From here on the first Ctrl-C only ends the wait, so that the user learns that the order stays in force.
  const shutdown = flags.wait ? firstSignal(platform) : undefined;
  const where = { namespace, name, ...(flags.lock && { kinds: [flags.lock] }) };
  if (which === "transfer" && !flags.unlisted) await requireCandidate(session, where, flags.to ?? "");
  const { before, after } = await giveOrder(session, where, (state) => made.decide(state));
  const already = after === undefined ? made.already?.(before) : undefined;
  if (already !== undefined)
    return report(session, which, { ok: true, message: already, leader: before.leader });
  if (shutdown === undefined) {
    return report(session, which, { ok: true, message: made.given(before), leader: before.leader });
  }
  const given = after ?? before;
  const unanswered =
    which === "transfer"
      ? await awaitAcceptance(session, { where, given, to: flags.to ?? "", timeoutMs }, shutdown.signal)
      : undefined;
  if (unanswered !== undefined) {
    const waitedMs = session.monotonicMs() - startedMs;
    return report(session, which, { ok: false, message: unanswered, leader: before.leader }, waitedMs);
  }
  const remainingMs = Math.max(timeoutMs - (session.monotonicMs() - startedMs), 0);
  const outcomeOf = made.outcomeOf(before);
  const ending = await awaitEffect(session, platform.clock, shutdown.signal, given, remainingMs, outcomeOf);
  const tookMs = session.monotonicMs() - startedMs;
  if (ending.kind === "outcome") return report(session, which, ending.outcome, tookMs);
  return report(session, which, { ok: false, message: unfinished(ending, made, before, timeoutMs) }, tookMs);
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

async function report(
  session: Session<OrderFlags>,
  which: OrderName,
  { ok, message, leader }: Outcome,
  tookMs?: number,
): Promise<number> {
  const { output } = session.flags;
  if (output === "json" || output === "yaml") {
    const data = { order: which, ok, leader: leader ?? null, message, tookSeconds: seconds(tookMs) };
    session.print(await serialize(output, data));
    return ok ? 0 : 1;
  }
  if (!ok) throw new CliError("Failed", message);
  session.print(`${message}${tookMs === undefined ? "" : ` (took ${precisely(tookMs)})`}.\n`);
  return 0;
}

/** A handover takes milliseconds. Rounded to tenths of a second it would look like 0s. */
function precisely(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)}ms` : spell(ms);
}

function orderFor(which: OrderName, to: string): Order {
  switch (which) {
    case "step-down":
      return stepDown;
    case "transfer":
      return transferTo(to);
    case "pause":
      return pause;
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

const pause: Order = {
  decide: (state) => (state.orders.paused ? undefined : { [orderAnnotations.paused]: "true" }),
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
};

const resume: Order = {
  decide: (state) => (state.orders.paused ? { [orderAnnotations.paused]: null } : undefined),
  outcomeOf: resumeOutcome,
  given: (before) => `${titleOf(before)} is resumed`,
  already: (state) => (state.orders.paused ? undefined : `${titleOf(state)} is not paused, nothing to do`),
  late: (before, _last, within) =>
    `${titleOf(before)} is resumed, but nobody took over ${within}: is a candidate running?`,
};
