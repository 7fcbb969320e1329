/** Says who leads: at every change, and every so often even if nothing changed (A7). */

import { parseDuration } from "@tenure/base";
import type { Election } from "@tenure/election";
import type { Platform } from "../platform.ts";
import type { Log } from "./log.ts";

/** @returns ends it */
export function logLeader(
  election: Election,
  every: string | undefined,
  log: Log,
  platform: Platform,
): () => void {
  const me = election.identity;
  const ends = [
    election.on("term-started", ({ term }) => {
      const token = String(term.token);
      log.info(`${me}: I am the leader! (fencing token ${token})`, { event: "leading", identity: me, token });
    }),
    election.on("leader-changed", ({ leader }) => {
      const facts = { event: "leader-changed", identity: me, leader: leader ?? null };
      log.info(leader === undefined ? `${me}: nobody leads` : `${me}: new leader elected: ${leader}`, facts);
    }),
    election.on("term-ended", ({ reason, released }) => {
      const how = released ? "gave leadership up" : "lost leadership";
      log.info(`${me}: ${how} (${reason})`, { event: "term-ended", identity: me, reason, released });
    }),
    election.on("overrun", () => {
      const message = `${me}: the term is over and its work has not stopped: another replica may start now`;
      log.error(message, { event: "overrun", identity: me });
    }),
    election.on("error", ({ error, failure }) => {
      log.warn(`${me}: ${error.message}`, { event: "error", identity: me, kind: failure?.kind });
    }),
  ];
  const everyMs = parseDuration(every ?? "0s") ?? 0;
  if (everyMs > 0) ends.push(platform.every(everyMs, () => remind(election, log)));
  return () => {
    for (const end of ends) end();
  };
}

function remind(election: Election, log: Log): void {
  const { identity, leader } = election;
  const isLeader = leader === identity;
  const who =
    leader === undefined ? "nobody leads" : isLeader ? "still the leader" : `the leader is ${leader}`;
  log.info(`${identity}: ${who}`, { event: "leader", identity, leader: leader ?? null });
}
