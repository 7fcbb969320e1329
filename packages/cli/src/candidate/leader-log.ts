/** Logs who leads: at every change, and at a fixed interval even if nothing changed. */
import { after, type Clock, parseDuration } from "@tenure/base";
import type { Election } from "@tenure/election";
import type { Log } from "../log/log.ts";

interface LeaderLogOptions {
  /** How often to log who leads. @default never */
  readonly every: string | undefined;
  readonly clock: Clock;
  /** Whether work of the term runs at this moment. A process that was frozen learns of an overrun after its work was killed. */
  readonly isWorking?: () => boolean;
}

/** @returns a function that stops the log */
export function logLeader(
  election: Election,
  log: Log,
  { every, clock, isWorking = () => true }: LeaderLogOptions,
): () => void {
  const me = election.identity;
  const stops = [
    election.on("term-started", ({ term }) => {
      const token = String(term.token);
      const facts = { event: "leading", identity: me, leader: me, token };
      log.info(`${me}: I am the leader! (fencing token ${token})`, facts);
    }),
    election.on("leader-changed", ({ leader }) => {
      // "I am the leader!" has said so.
      if (leader === me) return;
      const facts = { event: "leader-changed", identity: me, leader: leader ?? null };
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
    election.on("error", ({ error, failure }) => {
      log.warn(`${me}: ${error.message}`, { event: "error", identity: me, kind: failure?.kind });
    }),
  ];
  const everyMs = parseDuration(every) ?? 0;
  if (everyMs > 0) stops.push(repeat(clock, everyMs, () => logReminder(election, log)));
  return () => {
    for (const stop of stops) stop();
  };
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
