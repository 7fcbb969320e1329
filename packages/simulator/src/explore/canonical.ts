/**
 * A text for each state of the world, the same for two states exactly if the same can happen next. It makes the search finite:
 * times are relative to now, and no longer in the past than any rule looks back; revisions, uids and records are numbered by
 * their order; counters that are only compared with each other are reduced to that comparison.
 */
import type { LeaderRecord, LockView, State } from "@tenure/core";
import { epochMs, leaseMs, type Process, tickMs, type World } from "./world.ts";

/** No rule looks back further than one lease. */
const oldestMs = leaseMs + tickMs;
/** The back-off does not grow any more after this many failures. */
const mostFailures = 3;

export function canonicalText(world: World): string {
  const revisions = rankOf(revisionsIn(world));
  const uids = new Map<string, number>();
  const records = new Map<string, number>();
  const number = (map: Map<string, number>, key: string) => {
    if (!map.has(key)) map.set(key, map.size);
    return map.get(key);
  };
  const past = (atMs: number) => Math.max(atMs - world.nowMs, -oldestMs);
  const future = (atMs: number) => Math.max(atMs - world.nowMs, 0);
  const record = (of: LeaderRecord | undefined) =>
    of && [of.holderIdentity, of.leaseDurationSeconds, number(records, `${of.acquireTime} ${of.renewTime}`)];
  const view = (of: LockView | undefined) =>
    of && [number(uids, of.uid), revisions.get(of.revision), record(of.record), of.orders];
  const sent = ({ monoMs, wallMs }: { monoMs: number; wallMs: number }, process: Process) => [
    past(monoMs),
    Math.max(wallMs - (epochMs + world.nowMs + process.wallAheadMs), -oldestMs),
  ];
  const phase = (of: State["phase"], process: Process) => {
    if (of.name === "idle") return of.name;
    if (of.name === "campaigning") return [of.name, future(of.notBeforeMs), of.staggerMs];
    const { term, ...rest } = of;
    return [
      rest,
      sent(term.sent, process),
      revisions.get(term.token),
      term.acquireTime && number(records, term.acquireTime),
    ];
  };
  return JSON.stringify([
    view(world.lock),
    world.used,
    world.unaware,
    world.delays,
    revisions.get(BigInt(world.lastToken)),
    world.processes.map((process) => {
      const { state } = process;
      return [
        phase(state.phase, process),
        state.stopping,
        state.lock.kind === "unknown"
          ? "unknown"
          : [past(state.lock.sinceMs), state.lock.kind === "present" ? view(state.lock.view) : "absent"],
        revisions.get(state.revision),
        past(state.lastContactMs),
        state.watchUp,
        future(state.vanishedHolderUntilMs),
        state.ownWrites.map((write) => [
          record(write.record),
          write.purpose,
          sent(write.sent, process),
          write.campaign === state.campaign,
        ]),
        state.inFlight && [
          state.inFlight.kind,
          future(state.inFlight.timeoutAtMs),
          state.inFlight.observations === state.observations,
        ],
        state.mustRead,
        Math.min(state.failures, mostFailures),
        future(state.retryAtMs),
        state.duplicateRenewals,
        state.longestLeaseMs,
        (state.clockOffsetMs ?? epochMs) - epochMs - process.wallAheadMs,
        process.requests.map((request) => [
          record(request.record),
          view(request.over),
          request.id === state.inFlight?.id,
        ]),
        process.answers.map(({ id, answer }) => [
          answer.kind,
          answer.kind === "found" ? view(answer.view) : undefined,
          id === state.inFlight?.id,
        ]),
        process.watchEvents.map((event) =>
          event.type === "observed"
            ? view(event.view)
            : event.type === "deleted"
              ? ["deleted", revisions.get(event.revision)]
              : event.type,
        ),
        process.works,
        process.isStopping,
        future(process.frozenUntilMs),
      ];
    }),
  ]);
}

function revisionsIn(world: World): bigint[] {
  const found: bigint[] = [BigInt(world.lastToken)];
  const add = (view: { readonly revision: bigint } | undefined) => view && found.push(view.revision);
  add(world.lock);
  for (const { state, requests, answers, watchEvents } of world.processes) {
    found.push(state.revision);
    if ("term" in state.phase) found.push(state.phase.term.token);
    if (state.lock.kind === "present") add(state.lock.view);
    for (const { over } of requests) add(over);
    for (const { answer } of answers) if (answer.kind === "found") add(answer.view);
    for (const event of watchEvents) {
      if (event.type === "observed") add(event.view);
      if (event.type === "deleted") found.push(event.revision);
    }
  }
  return found;
}

function rankOf(values: readonly bigint[]): Map<bigint, number> {
  const sorted = [...new Set(values)].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return new Map(sorted.map((value, rank) => [value, rank]));
}
