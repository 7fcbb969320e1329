/** `tenure status NAME`: one election in detail. */

import type { OperateFlags, Session } from "../../cluster/session.ts";
import {
  describeFlapping,
  describeFreshness,
  describeOrders,
  describeState,
  titleOf,
} from "../../display/descriptions.ts";
import { ago, spell } from "../../display/durations.ts";
import { isData, serialize, serializeNext } from "../../display/output.ts";
import { pad, withoutControls } from "../../display/paint.ts";
import { dataOf } from "../../display/state-data.ts";
import { type Candidate, listCandidates } from "../../elections/candidates.ts";
import { allKinds, findElection } from "../../elections/find.ts";
import {
  type Flapping,
  flappingOf,
  type KubeEvent,
  lastTakeovers,
  readEvents,
} from "../../elections/flapping.ts";
import { lockKinds, resourceName } from "../../elections/lock-object.ts";
import { findSets } from "../../elections/sets.ts";
import { type ElectionState, leaseSecondsOf } from "../../elections/state.ts";
import { CliError } from "../../errors.ts";
import { lineText } from "./change-lines.ts";
import { printChanges } from "./print-changes.ts";
import { setStatus } from "./set-status.ts";

export interface StatusFlags extends OperateFlags {
  watch?: boolean;
}

/** Smaller differences between two clocks are not reported. */
const notableOffsetMs = 2_000;

/** @returns the exit code: 0 if there is a leader, else 1 */
export async function status(name: string, session: Session<StatusFlags>): Promise<number> {
  const { flags, serverClock } = session;
  const kinds = flags.lock ? [flags.lock] : allKinds;
  const found = await findElection(session, session.namespace, name, kinds).catch(async (missing) => {
    const sets =
      missing instanceof CliError ? await findSets(session, session.namespace, name).catch(() => []) : [];
    const [first, ...rest] = sets;
    if (first === undefined) throw missing;
    return setStatus([first, ...rest], session);
  });
  if (typeof found === "number") return found;
  const [state, ...others] = found;
  // A user who may not read Events still sees who leads.
  const events = await readEvents(session.client, state).catch(() => undefined);
  const candidates = await listCandidates(session, state);
  const flapping = flappingOf(state, events ?? [], serverClock.nowMs());
  const time = serverClock.time();
  const { output } = flags;
  if (isData(output)) {
    const data = {
      ...dataOf(state, {
        ...(flapping && { flapping }),
        ...(time && { time }),
        ...(candidates && { candidates }),
      }),
      ...(others.length > 0 && { also: others.map((other) => dataOf(other)) }),
    };
    session.print(await (flags.watch ? serializeNext(output, data) : serialize(output, data)));
  } else if (output === "name") {
    session.print(`${resourceName(state, session.store)}\n`);
  } else {
    session.print(describeElection(session, state, { others, events, flapping, candidates }));
  }
  if (flags.watch) await followElection(session, state);
  return state.standing === "led" ? 0 : 1;
}

/** After the description: one line for every change, or the data again. */
function followElection(session: Session<StatusFlags>, state: ElectionState): Promise<void> {
  const { output } = session.flags;
  const { kind, namespace, name } = state;
  return printChanges(
    session,
    { kinds: [kind], namespace, name, known: [state] },
    async (next, _isDeleted, watched, change) => {
      if (isData(output)) return serializeNext(output, dataOf(next));
      if (output === "name") return `${resourceName(next, session.store)}\n`;
      return `${lineText(watched, change, session.platform.clock)}\n`;
    },
  );
}

interface Surroundings {
  /** Other locks with this name. */
  readonly others: readonly ElectionState[];
  readonly events: readonly KubeEvent[] | undefined;
  readonly flapping: Flapping | undefined;
  readonly candidates: readonly Candidate[] | undefined;
}

function describeElection(
  session: Session<OperateFlags>,
  state: ElectionState,
  { others, events, flapping, candidates }: Surroundings,
): string {
  const { paint, flags, serverClock } = session;
  const { record } = state;
  const rows: (readonly [string, string])[] = [];
  const row = (label: string, text: string | undefined) => {
    if (text !== undefined) rows.push([label, text]);
  };
  const title = `${paint.bold(titleOf(state))} ${paint.dim(`(${session.store ?? state.kind})`)}`;
  if (state.standing === "led") row("leader", paint.good(withoutControls(record.holderIdentity)));
  else row("leader", paint.bad(describeState(state)));
  if (record.holderIdentity !== "") {
    row(
      "since",
      state.heldForMs === undefined ? undefined : `${ago(state.heldForMs)} (${record.acquireTime})`,
    );
    row(
      "renewed",
      `${describeFreshness(state)} ${paint.dim(`(lease duration ${leaseOf(state)}, by ${whoseClock(session)})`)}`,
    );
  }
  row("transitions", String(record.leaseTransitions));
  for (const candidate of candidates ?? [])
    if (candidate.identity !== state.leader) row("candidate", describeCandidate(session, candidate));
  for (const order of describeOrders(state.orders)) row("order", paint.warn(withoutControls(order)));
  if (flapping) row("flapping", paint.warn(describeFlapping(flapping)));
  if (state.holderClockOffMs !== undefined) row("clock", paint.warn(holderClock(state)));
  const offsetMs = serverClock.time()?.offsetMs ?? 0;
  if (Math.abs(offsetMs) > notableOffsetMs) row("clock", paint.warn(localClock(offsetMs)));
  for (const other of others) row("also", `${other.kind}: ${describeState(other)}`);
  if (flags.output === "wide") {
    const { uid, resourceVersion, creationTimestamp } = state.object.metadata;
    row("created", creationTimestamp);
    row("uid", uid);
    row("version", resourceVersion);
    for (const { message, atMs } of lastTakeovers(events ?? [], 5))
      row("event", withoutControls(`${ago(serverClock.nowMs() - atMs)}: ${message}`));
    if (events === undefined) row("event", paint.dim("access denied"));
  }
  const width = Math.max(...rows.map(([label]) => label.length));
  const lines = rows.map(([label, text]) => `  ${paint.dim(pad(label, width))}  ${text}\n`);
  return `${title}\n${lines.join("")}`;
}

function describeCandidate({ paint }: Session<OperateFlags>, candidate: Candidate): string {
  const { identity, isPresent, reason, seenMs } = candidate;
  const name = withoutControls(identity);
  const seen = seenMs === undefined ? "never" : ago(seenMs);
  if (!isPresent) return `${name}: ${paint.bad(`gone, last seen ${seen}`)}`;
  const text =
    candidate.standing === "failing" ? paint.bad(withoutControls(reason)) : withoutControls(reason);
  return `${name}: ${text} ${paint.dim(`(seen ${seen})`)}`;
}

function leaseOf({ record }: ElectionState): string {
  const isKnown = (record.leaseDurationSeconds ?? 0) > 0;
  return `${isKnown ? "" : "unknown, assumed to be "}${leaseSecondsOf(record)}s`;
}

function whoseClock({ serverClock, store }: Session<OperateFlags>): string {
  if (store !== undefined) return "this machine's clock";
  return serverClock.time()
    ? "the API server's clock"
    : "this machine's clock, because the API server sent no time";
}

function holderClock({ holderClockOffMs = 0, kind }: ElectionState): string {
  const direction = holderClockOffMs > 0 ? "ahead of" : "behind";
  return `the holder's clock is ${spell(Math.abs(holderClockOffMs))} ${direction} that of the API server, which stored this ${lockKinds[kind].apiKind}`;
}

function localClock(offsetMs: number): string {
  return `this machine's clock is ${spell(Math.abs(offsetMs))} ${offsetMs > 0 ? "behind" : "ahead of"} that of the API server`;
}
