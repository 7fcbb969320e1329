/** Logs who leads: at every change, and at a fixed interval even if nothing changed. */
import { after, type Clock, parseDuration } from "@tenure/base";
import type { Election } from "@tenure/election";
import type { Log } from "../log/log.ts";
import { ErrorThrottle } from "./error-throttle.ts";

interface LeaderLogOptions {
  /** How often to log who leads. @default never */
  readonly every: string | undefined;
  readonly clock: Clock;
  /** Whether work of the term runs at this moment. A process that was frozen learns of an overrun after its work was killed. */
  readonly isWorking?: () => boolean;
  /** All rights that this replica lacks: an error names only the one that its request needed. @default nothing is known */
  readonly missingRights?: () => Promise<string | undefined>;
}

/** @returns a function that stops the log */
export function logLeader(election: Election, log: Log, options: LeaderLogOptions): () => void {
  const { every, clock, isWorking = () => true } = options;
  const me = election.identity;
  const stops = [
    election.on("term-started", ({ term }) => {
      const token = String(BigInt(term.token));
      const facts = { event: "leading" as const, identity: me, leader: me, token };
      log.info(`${me}: I am the leader! (fencing token ${token})`, facts);
    }),
    election.on("leader-changed", ({ leader }) => {
      // "I am the leader!" has said so.
      if (leader === me) return;
      const facts = { event: "leader-changed" as const, identity: me, leader: leader ?? null };
      log.info(leader === undefined ? `${me}: nobody leads` : `${me}: new leader elected: ${leader}`, facts);
    }),
    election.on("term-ended", ({ reason, released }) => {
      const how = released ? "gave up leadership" : "lost leadership";
      log.info(`${me}: ${how} (${reason})`, { event: "term-ended", identity: me, reason, released });
    }),
    election.on("overrun", () => {
      if (!isWorking()) return;
      const message = `${me}: the term ended but its work has not stopped; another replica may start now`;
      log.error(message, { event: "overrun", identity: me });
    }),
    logErrors(election, log, options),
  ];
  const everyMs = parseDuration(every) ?? 0;
  if (everyMs > 0) stops.push(repeat(clock, everyMs, () => logReminder(election, log)));
  return () => {
    for (const stop of stops) stop();
  };
}

/** A leaderless night must not fill the disk: an error that repeats at every attempt is logged less and less often. */
function logErrors(election: Election, log: Log, { clock, missingRights }: LeaderLogOptions): () => void {
  const me = election.identity;
  const throttle = new ErrorThrottle(clock);
  return election.on("error", ({ error, failure }) => {
    const omitted = throttle.next(error.message);
    if (omitted === undefined) return;
    const again = omitted > 0 ? ` (${omitted} more since the last message)` : "";
    const facts = { event: "error" as const, identity: me, kind: failure?.kind };
    log.warn(`${me}: ${error.message}${again}`, { ...facts, ...(omitted > 0 && { omitted }) });
    if (failure?.kind !== "denied") return;
    void missingRights?.().then((all) => {
      if (all !== undefined) log.warn(`${me}: ${all}`, { event: "missing-rights", identity: me });
    });
  });
}

function logReminder(election: Election, log: Log): void {
  const { identity, leader } = election;
  const isLeader = leader === identity;
  const who =
    leader === undefined ? "nobody leads" : isLeader ? "still the leader" : `the leader is ${leader}`;
  log.info(`${identity}: ${who}`, { event: "leader", identity, leader: leader ?? null });
}

/** Calls back at this interval. The returned function stops that. */
function repeat(clock: Clock, ms: number, callback: () => void): () => void {
  let cancel = () => {};
  const arm = () => {
    cancel = after(clock, ms, () => {
      arm();
      callback();
    });
  };
  arm();
  return () => cancel();
}
