/** `tenure status NAME`: one election in full. */
import { allKinds, findElection, serverNowMs } from "../../elections/find.ts";
import {
  describeFlapping,
  type Flapping,
  flappingOf,
  lastTakeovers,
  readEvents,
} from "../../elections/flapping.ts";
import { lockKinds } from "../../elections/lock-object.ts";
import { describeOrders } from "../../elections/orders.ts";
import { serialize } from "../../elections/output.ts";
import { harmless, pad } from "../../elections/paint.ts";
import type { OperateFlags, Session } from "../../elections/session.ts";
import type { ElectionState } from "../../elections/state.ts";
import { ago, spell } from "../../elections/time-words.ts";
import { dataOf, freshness, sentence, titleOf } from "../../elections/words.ts";

type Events = Awaited<ReturnType<typeof readEvents>>;

/** A clock that is further off than this is worth a line. */
const notableOffsetMs = 2_000;

/** @returns the exit code: 0 when somebody leads, 1 when nobody does */
export async function status(name: string, session: Session<OperateFlags>): Promise<number> {
  const { flags, serverClock } = session;
  const [state, ...others] = await findElection(
    session,
    session.namespace,
    name,
    flags.lock ? [flags.lock] : allKinds,
  );
  // Whoever may read the lock and not its Events still learns who leads.
  const events = await readEvents(session.client, state).catch(() => undefined);
  const flapping = flappingOf(state, events ?? [], serverNowMs(session));
  const time = serverClock.time();
  if (flags.output === "json" || flags.output === "yaml") {
    const data = {
      ...dataOf(state, { ...(flapping && { flapping }), ...(time && { time }) }),
      ...(others.length > 0 && { also: others.map((other) => dataOf(other)) }),
    };
    session.print(await serialize(flags.output, data));
  } else {
    session.print(inWords(session, state, others, events, flapping));
  }
  return state.standing === "led" ? 0 : 1;
}

function inWords(
  session: Session<OperateFlags>,
  state: ElectionState,
  others: readonly ElectionState[],
  events: Events | undefined,
  flapping: Flapping | undefined,
): string {
  const { paint, flags } = session;
  const { record } = state;
  const rows: (readonly [string, string])[] = [];
  const row = (label: string, text: string | undefined) => {
    if (text !== undefined) rows.push([label, text]);
  };
  const title = `${paint.bold(titleOf(state))} ${paint.dim(`(${state.kind})`)}`;
  if (state.standing === "led") row("leader", paint.good(harmless(record.holderIdentity)));
  else row("leader", paint.bad(sentence(state)));
  if (record.holderIdentity !== "") {
    row(
      "since",
      state.heldForMs === undefined ? undefined : `${ago(state.heldForMs)} (${record.acquireTime})`,
    );
    row(
      "renewed",
      `${freshness(state)} ${paint.dim(`(lease of ${leaseOf(state)}, by ${whoseClock(session)})`)}`,
    );
  }
  row("transitions", String(record.leaseTransitions));
  for (const order of describeOrders(state.orders)) row("order", paint.warn(harmless(order)));
  if (flapping) row("flapping", paint.warn(describeFlapping(flapping)));
  if (state.holderClockOffMs !== undefined) row("clock", paint.warn(holderClock(state)));
  const offsetMs = session.serverClock.time()?.offsetMs ?? 0;
  if (Math.abs(offsetMs) > notableOffsetMs) row("clock", paint.warn(localClock(offsetMs)));
  for (const other of others) row("also", `${other.kind}: ${sentence(other)}`);
  if (flags.output === "wide") {
    const { uid, resourceVersion, creationTimestamp } = state.object.metadata;
    row("created", creationTimestamp);
    row("uid", uid);
    row("version", resourceVersion);
    for (const change of lastTakeovers(events ?? [], serverNowMs(session), 5)) row("event", harmless(change));
    if (events === undefined) row("event", paint.dim("they may not be read"));
  }
  const width = Math.max(...rows.map(([label]) => label.length));
  const lines = rows.map(([label, text]) => `  ${paint.dim(pad(label, width))}  ${text}\n`);
  return `${title}\n${lines.join("")}`;
}

function leaseOf({ record: { leaseDurationSeconds } }: ElectionState): string {
  return leaseDurationSeconds === undefined || leaseDurationSeconds <= 0
    ? `unknown length, 15s assumed`
    : `${leaseDurationSeconds}s`;
}

function whoseClock({ serverClock }: Session<OperateFlags>): string {
  return serverClock.time() ? "the API server's clock" : "this machine's clock: the API server told no time";
}

function holderClock({ holderClockOffMs = 0, kind }: ElectionState): string {
  const direction = holderClockOffMs > 0 ? "ahead of" : "behind";
  return `the holder's is ${spell(Math.abs(holderClockOffMs))} ${direction} the API server's, which stored this ${lockKinds[kind].apiKind}`;
}

function localClock(offsetMs: number): string {
  return `this machine's is ${spell(Math.abs(offsetMs))} ${offsetMs > 0 ? "behind" : "ahead of"} the API server's`;
}
