/** `tenure step-down`, `transfer`, `pause` and `resume`: gives the order and prints what became of it. */
import { type Problem, parseDuration } from "@tenure/base";
import { durationProblems, type OperateFlags, type Session } from "../../cluster/session.ts";
import { whoAmI } from "../../cluster/who-am-i.ts";
import { spell } from "../../display/durations.ts";
import { serialize } from "../../display/output.ts";
import { seconds } from "../../display/state-data.ts";
import { CliError } from "../../errors.ts";
import { firstSignal } from "../../signals.ts";
import { type OrderName, type PerformedOrder, performOrder } from "./perform-order.ts";
import { requireCandidate } from "./require-candidate.ts";

export interface OrderFlags extends OperateFlags {
  wait: boolean;
  /** A duration. */
  timeout: string;
  to?: string;
  /** Ask a candidate that does not show itself, too. */
  unlisted?: boolean;
  reason?: string;
}

export function orderProblems({ timeout }: OrderFlags): Problem[] {
  return durationProblems("timeout", timeout);
}

export async function order(which: OrderName, name: string, session: Session<OrderFlags>): Promise<number> {
  const { flags, namespace, platform } = session;
  // From here on the first Ctrl-C only ends the wait, so that the user learns that the order stays in force.
  const shutdown = flags.wait ? firstSignal(platform) : undefined;
  const where = { namespace, name, ...(flags.lock && { kinds: [flags.lock] }) };
  if (which === "transfer" && !flags.unlisted) await requireCandidate(session, where, flags.to ?? "");
  const performed = await performOrder(session, platform.clock, {
    which,
    where,
    to: flags.to,
    reason: flags.reason,
    // A store has users of its own, which say nothing about who typed the command.
    by: which === "pause" && !session.store ? await whoAmI(session.client).catch(() => undefined) : undefined,
    timeoutMs: parseDuration(flags.timeout) as number,
    interrupt: shutdown?.signal,
  });
  return report(session, which, performed);
}

async function report(
  session: Session<OrderFlags>,
  which: OrderName,
  { ok, message, leader, tookMs }: PerformedOrder,
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
