/** One candidate with a lock in memory, and the notices that it sent to its owner. */

import { VirtualClock } from "@tenure/base/virtual-clock";
import { type Config, resolveTimings } from "@tenure/core";
import { type MemoryLock, MemoryServer } from "@tenure/testkit";
import { Candidate, type CandidateParts, type Notice } from "../candidate.ts";

export const config: Config = {
  identity: "a",
  timings: resolveTimings(),
  waitWhenAbsent: false,
  failWhenDenied: false,
  cooldownMs: 2_000,
};

export interface Rig {
  readonly clock: VirtualClock;
  readonly server: MemoryServer;
  readonly lock: MemoryLock;
  readonly candidate: Candidate;
  readonly notices: Notice[];
  /** The types of the notices since the last call, without the answers to requests. */
  newNotices(): string[];
}

export function newRig(
  parts: Partial<CandidateParts> & { readonly server?: MemoryServer } = {},
  onNotice?: (notice: Notice, candidate: Candidate) => void,
): Rig {
  const clock = parts.server?.clock ?? new VirtualClock();
  const server = parts.server ?? new MemoryServer(clock);
  const lock = server.link();
  const notices: Notice[] = [];
  const candidate: Candidate = new Candidate({
    config,
    lock,
    clock,
    random: () => 0.5,
    ...parts,
    onNotice: (notice) => {
      notices.push(notice);
      onNotice?.(notice, candidate);
    },
  });
  let returned = 0;
  const newNotices = () => {
    const types = notices.slice(returned).map(({ type }) => type);
    returned = notices.length;
    return types.filter((type) => type !== "answered");
  };
  return { clock, server, lock, candidate, notices, newNotices };
}

/** A candidate that has just won the lock. */
export async function newLeader(...parts: Parameters<typeof newRig>): Promise<Rig> {
  const rig = newRig(...parts);
  rig.candidate.send({ type: "start" });
  await rig.clock.pass(5);
  return rig;
}
