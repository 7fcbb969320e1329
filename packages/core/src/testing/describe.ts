/** Formats effects and states for the histories in testdata. */
import { formatDuration } from "@tenure/base";
import type { LeaderRecord } from "../record.ts";
import type { Effect, State } from "../types.ts";
import type { TestCandidate } from "./test-candidate.ts";

export function describeEffect(effect: Effect): string {
  switch (effect.type) {
    case "read":
      return `read #${effect.id}, timeout ${time(effect.timeoutMs)}`;
    case "write": {
      const over = effect.over ? `over rev ${effect.over.version}` : "as a new lock";
      return `${effect.purpose} #${effect.id} ${over}: ${describeRecord(effect.record)}, timeout ${time(effect.timeoutMs)}`;
    }
    case "accept":
      return `accept #${effect.id} over rev ${effect.over.version}: the transfer to ${effect.over.orders?.transfer?.to}, timeout ${time(effect.timeoutMs)}`;
    case "cancel":
      return `cancel #${effect.id}`;
    case "term-started":
      return `TERM STARTED with token ${effect.token}`;
    case "renewed":
      return "renewed";
    case "term-ending":
      return `term ending (${effect.reason}): the work should stop`;
    case "term-lost":
      return `TERM LOST (${effect.reason}): the work must stop`;
    case "term-expired":
      return "TERM EXPIRED: no work may run";
    case "overrun":
      return "OVERRUN: the work has not stopped in time";
    case "term-ended":
      return `TERM ENDED (${effect.reason}), ${effect.released ? "released" : "not released"}`;
    case "leader-changed":
      return `the leader is ${effect.leader ?? "nobody"}`;
    case "failed":
      return `${effect.during} failed (${effect.failure.kind})`;
    case "refused":
      return `REFUSED (${effect.reason}): ${effect.message}`;
    case "stopped":
      return "STOPPED";
  }
}

export function describeState(candidate: TestCandidate): string[] {
  const { state } = candidate;
  const next = candidate.nextWakeMs <= candidate.monoMs ? "now" : `at ${time(candidate.nextWakeMs)}`;
  const wakes = Number.isFinite(candidate.nextWakeMs) ? next : "never";
  const lines = [
    `${describePhase(state)}; ${candidate.mayWork ? "may work" : "may not work"}; the leader is ${candidate.leader ?? "nobody"}`,
    `lock: ${describeLock(state)}; wakes ${wakes}`,
  ];
  if (state.vanishedHolderUntilMs > candidate.monoMs) {
    lines.push(`a vanished holder may work until ${time(state.vanishedHolderUntilMs)}`);
  }
  return lines;
}

function describePhase({ phase, stopping }: State): string {
  const name = stopping && phase.name !== "idle" ? `${phase.name}, stopping` : phase.name;
  return "term" in phase ? `${name}, token ${phase.term.token}, sent ${time(phase.term.sent.monoMs)}` : name;
}

function describeLock({ lock }: State): string {
  if (lock.kind === "unknown") return "unknown";
  if (lock.kind === "absent") return `absent since ${time(lock.sinceMs)}`;
  return `rev ${lock.view.version}, ${describeRecord(lock.view.record)}, known since ${time(lock.sinceMs)}`;
}

function describeRecord({ holderIdentity, leaseDurationSeconds, leaseTransitions }: LeaderRecord): string {
  const holder = holderIdentity === "" ? "nobody" : holderIdentity;
  return `${holder} for ${leaseDurationSeconds ?? "?"}s, ${leaseTransitions} transitions`;
}

export function time(ms: number): string {
  if (ms < 0) return `-${time(-ms)}`;
  const rounded = Math.round(ms);
  return rounded < 1_000 ? `${rounded}ms` : formatDuration(Math.round(rounded / 10) * 10);
}
