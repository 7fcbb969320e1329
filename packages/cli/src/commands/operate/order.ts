/** `tenure step-down`, `transfer`, `pause` and `resume`: gives the order, then waits until it has come about. */
import { parseDuration } from "@tenure/base";
import { orderAnnotations } from "@tenure/election/internal";
import { awaitEffect, type Ending, type Verdict } from "../../elections/await-effect.ts";
import { type Annotations, giveOrder } from "../../elections/give-order.ts";
import { serialize } from "../../elections/output.ts";
import { harmless } from "../../elections/paint.ts";
import { durationProblems, type OperateFlags, type Session } from "../../elections/session.ts";
import type { ElectionState } from "../../elections/state.ts";
import { spell } from "../../elections/time-words.ts";
import { sentence, titleOf } from "../../elections/words.ts";
import { CliError } from "../../errors.ts";
import { type Judge, judgePause, judgeResume, judgeStepDown, judgeTransfer } from "./order-judges.ts";

export interface OrderFlags extends OperateFlags {
  wait: boolean;
  /** A duration. */
  timeout: string;
  to?: string;
}

export function orderProblems({ timeout }: OrderFlags): string[] {
  return durationProblems("--timeout", timeout);
}

export type OrderName = "step-down" | "transfer" | "pause" | "resume";

interface Order {
  /** What to write; undefined if it is so already; throws if it makes no sense. */
  decide(state: ElectionState): Annotations | undefined;
  judge(before: ElectionState): Judge;
  /** Said without waiting. */
  given(before: ElectionState): string;
  /** Said when nothing had to be written and there is nothing to wait for. */
  already?(state: ElectionState): string | undefined;
  /** Said when the time is over. */
  late(before: ElectionState, last: ElectionState, within: string): string;
}

export async function order(which: OrderName, name: string, session: Session<OrderFlags>): Promise<number> {
  const { flags, namespace, platform } = session;
  const made = orderFor(which, flags.to ?? "");
  const startedMs = session.monotonicMs();
  const timeoutMs = parseDuration(flags.timeout) as number;
  // From here on Ctrl-C ends the waiting, not the command: whoever gave an order is told that it stands.
  const interrupted = flags.wait ? platform.stopSignal() : Promise.race([]);
  const where = { namespace, name, ...(flags.lock && { kinds: [flags.lock] }) };
  const { before, after } = await giveOrder(session, where, (state) => made.decide(state));
  const already = after === undefined ? made.already?.(before) : undefined;
  if (already !== undefined)
    return tell(session, which, { ok: true, message: already, leader: before.leader });
  if (!flags.wait) {
    return tell(session, which, { ok: true, message: made.given(before), leader: before.leader });
  }
  const ending = await awaitEffect(
    session,
    platform,
    interrupted,
    after ?? before,
    timeoutMs,
    made.judge(before),
  );
  const tookMs = session.monotonicMs() - startedMs;
  if (ending.kind === "verdict") return tell(session, which, ending.verdict, tookMs);
  return tell(session, which, { ok: false, message: unfinished(ending, made, before, timeoutMs) }, tookMs);
}

function unfinished(ending: Ending, made: Order, before: ElectionState, timeoutMs: number): string {
  if (ending.kind !== "timeout")
    return "Stopped waiting; the order stands. See what comes of it with tenure status";
  const within = `within ${spell(timeoutMs)}`;
  if (ending.trouble !== undefined) {
    return `Cannot tell what came of the order ${within}, there was no connection at the end: ${ending.trouble}`;
  }
  return made.late(before, ending.last ?? before, within);
}

async function tell(
  session: Session<OrderFlags>,
  which: OrderName,
  { ok, message, leader }: Verdict,
  tookMs?: number,
): Promise<number> {
  const { output } = session.flags;
  if (output === "json" || output === "yaml") {
    const seconds = tookMs === undefined ? undefined : Math.round(tookMs) / 1_000;
    session.print(
      await serialize(output, { order: which, ok, leader: leader ?? null, message, tookSeconds: seconds }),
    );
    return ok ? 0 : 1;
  }
  if (!ok) throw new CliError("FAILED", message);
  session.print(`${message}${tookMs === undefined ? "" : ` (took ${precisely(tookMs)})`}.\n`);
  return 0;
}

/** A handover takes milliseconds; rounded to tenths of a second it would look like none. */
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

function leaderOrRefuse(state: ElectionState, cannot: string): void {
  if (state.standing === "led") return;
  throw new CliError("FAILED", `Cannot ${cannot} in ${titleOf(state)}. ${sentence(state)}`);
}

/** Why a leader may not have heeded, with what can be known about it. */
function unheeded(before: ElectionState, last: ElectionState, within: string, what: string): string {
  const holder = harmless(before.record.holderIdentity);
  if (last.standing !== "led")
    return `${holder} ended its term, and nobody took over ${within}: is there another candidate?`;
  return (
    `${holder} did not ${what} ${within} and goes on renewing: it is no tenure candidate, for client-go and others do not ` +
    "read such orders, or its work takes longer to stop (raise --timeout)."
  );
}

const lapses = " The order lapses with this term.";

const stepDown: Order = {
  decide(state) {
    leaderOrRefuse(state, "make the leader step down");
    if (state.orders.stepDown) return undefined;
    return {
      [orderAnnotations.stepDown]: String(state.record.leaseTransitions),
      [orderAnnotations.transfer]: null,
    };
  },
  judge: judgeStepDown,
  given: (before) => `${harmless(before.record.holderIdentity)} was told to step down`,
  late(before, last, within) {
    const text = unheeded(before, last, within, "step down");
    return last.standing === "led" ? `${text}${lapses}` : text;
  },
};

function transferTo(to: string): Order {
  return {
    decide(state) {
      leaderOrRefuse(state, `transfer leadership to ${harmless(to)}`);
      if (state.leader === to || state.orders.transferTo === to) return undefined;
      return {
        [orderAnnotations.transfer]: `${state.record.leaseTransitions}/${to}`,
        [orderAnnotations.stepDown]: null,
      };
    },
    already: (state) => (state.leader === to ? `${harmless(to)} leads already, nothing to do` : undefined),
    judge: (before) => judgeTransfer(before, to),
    given: (before) => `${harmless(before.record.holderIdentity)} was told to make way for ${harmless(to)}`,
    late(before, last, within) {
      const text = unheeded(before, last, within, "make way");
      return last.standing === "led" ? `${text}${lapses}` : text;
    },
  };
}

const pause: Order = {
  decide: (state) => (state.orders.paused ? undefined : { [orderAnnotations.paused]: "true" }),
  judge: judgePause,
  given: (before) =>
    `${titleOf(before)} is paused: its leader, if it has one, ends its term, and nobody takes office`,
  already: (state) =>
    state.orders.paused && state.standing !== "led"
      ? `${titleOf(state)} is paused already, nobody leads`
      : undefined,
  late: (before, last, within) =>
    `${unheeded(before, last, within, "end its term")} The pause stands: take it back with ` +
    `tenure resume ${before.name} -n ${before.namespace}.`,
};

const resume: Order = {
  decide: (state) => (state.orders.paused ? { [orderAnnotations.paused]: null } : undefined),
  judge: judgeResume,
  given: (before) => `${titleOf(before)} is resumed`,
  already: (state) => (state.orders.paused ? undefined : `${titleOf(state)} is not paused, nothing to do`),
  late: (before, _last, within) =>
    `${titleOf(before)} is resumed, and nobody took office ${within}: is a candidate running?`,
};
