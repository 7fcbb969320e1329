/**
 * What is to be done next, and when: the only place that decides on time. The machine does what is due; the shell sets
 * its one timer by the earliest entry (G4: at the exact moment, without polling).
 */
import type { Instant } from "@tenure/base";
import { dueMs } from "./instant.ts";
import { durationMs, mayTakeAtMs } from "./queries.ts";
import type { Config, State } from "./types.ts";

export type Task =
  | "abandon"
  | "leave"
  | "read"
  | "acquire"
  | "renew"
  | "soft-end"
  | "overrun"
  | "release"
  | "keep";

export interface Entry {
  readonly atMs: number;
  readonly task: Task;
}

/** A watch that is silent for this part of the holder's lease is suspected; a holder renews several times in it. */
const suspicionPart = 1 / 3;

/** Entries in the order in which they are done when several are due: what ends a right comes before what uses it. */
export function agenda(config: Config, state: State, at: Instant): Entry[] {
  const { phase, inFlight } = state;
  const { timings } = config;
  const entries: Entry[] = [];
  const add = (task: Task, atMs: number) => entries.push({ atMs, task });

  if (phase.name === "leading" || phase.name === "draining") {
    add("soft-end", dueMs(phase.term.sent, timings.renewDeadlineMs, at));
  }
  if (phase.name === "lost" && !phase.overrun) {
    add("overrun", dueMs(phase.term.sent, timings.hardDeadlineMs, at));
  }
  if (phase.name === "releasing") add("keep", dueMs(phase.term.sent, timings.hardDeadlineMs, at));
  if (inFlight) {
    add("abandon", inFlight.timeoutAtMs);
    return entries;
  }
  switch (phase.name) {
    case "campaigning": {
      if (state.stopping) {
        add("leave", at.monoMs);
        break;
      }
      const mayTakeAt = mayTakeAtMs(config, state);
      if (state.mustRead || mayTakeAt === undefined) {
        add("read", state.retryAtMs);
        break;
      }
      add("acquire", Math.max(mayTakeAt + phase.staggerMs, phase.notBeforeMs, state.retryAtMs));
      add("read", Math.max(state.heardAtMs + silenceMs(config, state), state.retryAtMs));
      break;
    }
    case "leading":
    case "draining":
      if (state.mustRead) add("read", state.retryAtMs);
      else add("renew", Math.max(dueMs(phase.term.sent, timings.renewIntervalMs, at), state.retryAtMs));
      break;
    case "releasing":
      add(state.mustRead ? "read" : "release", state.retryAtMs);
      break;
  }
  return entries;
}

/** When the shell should call again if nothing else happens, in monotonic milliseconds. */
export function nextWakeMs(config: Config, state: State, at: Instant): number {
  return Math.min(...agenda(config, state, at).map((entry) => entry.atMs));
}

function silenceMs(config: Config, state: State): number {
  const { timings } = config;
  if (!state.watchUp) return timings.retryPeriodMs;
  const held = state.lock.kind === "present" && state.lock.view.record.holderIdentity !== "";
  const leaseMs = held ? durationMs(config, state.lock.view.record) : timings.leaseDurationMs;
  return Math.max(leaseMs * suspicionPart, timings.retryPeriodMs);
}
