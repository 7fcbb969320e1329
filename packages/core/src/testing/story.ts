/** Effects and states in the words of an operator, for the histories in testdata. */
import { formatDuration } from "@tenure/base";
import type { LeaderRecord } from "../record.ts";
import type { Effect, State } from "../types.ts";
import type { Rig } from "./rig.ts";

export function describeEffect(effect: Effect): string {
  switch (effect.type) {
    case "read":
      return `read #${effect.id}, for ${time(effect.timeoutMs)} at most`;
    case "write": {
      const over = effect.over ? `over rev ${effect.over.version}` : "as a new lock";
      return `${effect.purpose} #${effect.id} ${over}: ${describeRecord(effect.record)}, for ${time(effect.timeoutMs)} at most`;
    }
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
      return "TERM EXPIRED: nothing of it may run";
    case "overrun":
      return "OVERRUN: the work should be gone by now";
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

export function describeState(rig: Rig): string[] {
  const { state } = rig;
  const next = rig.nextWakeMs <= rig.monoMs ? "now" : `at ${time(rig.nextWakeMs)}`;
  const wakes = Number.isFinite(rig.nextWakeMs) ? next : "never";
  const lines = [
    `${describePhase(state)}; ${rig.mayWork ? "may work" : "may not work"}; the leader is ${rig.leader ?? "nobody"}`,
    `lock: ${describeLock(state)}; wakes ${wakes}`,
  ];
  if (state.vanishedHolderUntilMs > rig.monoMs) {
    lines.push(`a holder that vanished has until ${time(state.vanishedHolderUntilMs)}`);
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
