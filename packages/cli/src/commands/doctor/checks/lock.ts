/** What the lock itself tells: its record, its orders, its twin of another kind. Pure. */

import { orderAnnotations } from "@tenure/election/internal";
import type { Flapping } from "../../../elections/flapping.ts";
import { describeFlapping } from "../../../elections/flapping.ts";
import { lockKinds, writtenAtMs } from "../../../elections/lock-object.ts";
import { type ElectionState, leaseSecondsOf } from "../../../elections/state.ts";
import { ago, spell } from "../../../elections/time-words.ts";
import { titleOf } from "../../../elections/words.ts";
import { finding, hint, ok, type Report } from "../report.ts";

/** After a crash the work stands still for so long: more than this is a unit that went wrong. */
const longestLeaseSeconds = 3_600;
/** The longest of the presets; longer may be meant so. */
const usualLeaseSeconds = 60;
/** Maintenance takes an hour; what is paused for longer was forgotten. */
const longestPauseMs = 3_600_000;
/** A leader that heeds an order has done so by then. */
const longestOrderMs = 120_000;

export function checkRecord(state: ElectionState): Report[] {
  const about = titleOf(state);
  const { record, kind, holderClockOffMs } = state;
  const edit = `kubectl edit ${kind} ${state.name} -n ${state.namespace}`;
  const reports: Report[] = [];
  if (record.problem !== undefined) {
    const fix = `correct it, or remove it once nobody leads: ${edit}`;
    return [finding("record", `the record cannot be read: ${record.problem}`, fix, about)];
  }
  const seconds = record.leaseDurationSeconds;
  if (record.holderIdentity !== "" && (seconds === undefined || seconds <= 0)) {
    const what = `leaseDurationSeconds is ${seconds ?? "missing"}, so that each candidate waits its own time and the others cannot know`;
    reports.push(
      finding(
        "timings",
        what,
        "set --lease-duration on the leader (15s is usual); it writes it with its next renewal",
        about,
      ),
    );
  } else if (seconds !== undefined && seconds > longestLeaseSeconds) {
    const what = `leaseDurationSeconds is ${seconds} (${spell(seconds * 1_000)}): after a crash nobody takes over for so long`;
    reports.push(finding("timings", what, "set --lease-duration on every candidate (15s is usual)", about));
  } else if (seconds !== undefined && seconds > usualLeaseSeconds) {
    const what = `a lease lasts ${spell(seconds * 1_000)}: so slow is a failover after a crash`;
    reports.push(hint("timings", what, "a shorter --lease-duration, if that is too slow", about));
  } else if (record.holderIdentity !== "") {
    reports.push(ok("timings", `a lease lasts ${leaseSecondsOf(record)}s`, about));
  }
  if (holderClockOffMs !== undefined && record.holderIdentity !== "") {
    const direction = holderClockOffMs > 0 ? "ahead of" : "behind";
    const what = `the clock of ${record.holderIdentity} is ${spell(Math.abs(holderClockOffMs))} ${direction} the API server's`;
    const fix =
      "set the clock of its node by NTP. The election does not mind, but people read renewTime, and tokens expire";
    reports.push(finding("clock", what, fix, about));
  }
  return reports;
}

export function checkTwins(states: readonly ElectionState[]): Report[] {
  const [first, ...others] = states;
  if (first === undefined || others.length === 0) return [];
  const about = titleOf(first);
  const name = (state: ElectionState) => `the ${lockKinds[state.kind].apiKind}`;
  return others.map((other) => {
    if (first.leader !== undefined && other.leader !== undefined && first.leader !== other.leader) {
      return finding(
        "twins",
        `two lead at once: ${first.leader} by ${name(first)}, ${other.leader} by ${name(other)}. The move from one to the other is half done`,
        `bring every replica to --lock=${other.kind}+lease first, which needs both, and only then to --lock=lease; ` +
          "until then scale the newer replicas to 0",
        about,
      );
    }
    if (other.leader !== undefined)
      return ok("twins", `${name(first)} and ${name(other)} have the same holder`, about);
    const fix = `once no old replica is left: kubectl annotate ${other.kind} ${other.name} -n ${other.namespace} control-plane.alpha.kubernetes.io/leader-`;
    return hint(
      "twins",
      `there is also ${name(other)} of this name, which nobody holds: a leftover of a move?`,
      fix,
      about,
    );
  });
}

export function checkOrders(state: ElectionState, serverNowMs: number): Report[] {
  const about = titleOf(state);
  const { orders, record } = state;
  const sinceMs = (annotation: string) => {
    const atMs = writtenAtMs(state.object, ["f:metadata", "f:annotations", `f:${annotation}`]);
    return atMs === undefined ? undefined : Math.max(0, serverNowMs - atMs);
  };
  const reports: Report[] = [];
  if (orders.paused) {
    const forMs = sinceMs(orderAnnotations.paused);
    const what = `paused${forMs === undefined ? "" : ` ${ago(forMs)}`}: nobody takes office`;
    const fix = `tenure resume ${state.name} -n ${state.namespace}`;
    const isForgotten = forMs === undefined || forMs > longestPauseMs;
    reports.push((isForgotten ? finding : hint)("orders", what, fix, about));
    if (state.standing === "led") {
      const unheeded = `${record.holderIdentity} leads in spite of the pause: it is no tenure candidate, or its work does not stop`;
      if ((forMs ?? 0) > longestOrderMs)
        reports.push(finding("orders", unheeded, "stop it by other means, such as scaling it to 0", about));
    }
  }
  const pending = orders.stepDown
    ? orderAnnotations.stepDown
    : orders.transferTo === undefined
      ? undefined
      : orderAnnotations.transfer;
  const pendingMs = pending === undefined ? undefined : sinceMs(pending);
  if (pending !== undefined && state.standing === "led" && (pendingMs ?? 0) > longestOrderMs) {
    reports.push(
      finding(
        "orders",
        `${record.holderIdentity} was told to make way ${ago(pendingMs ?? 0)} and leads on: it is no tenure candidate, or its work does not stop`,
        `delete its pod to move leadership; take the order back with kubectl annotate ${state.kind} ${state.name} -n ${state.namespace} ${pending}-`,
        about,
      ),
    );
  }
  return reports.length > 0 ? reports : [ok("orders", "none are left behind", about)];
}

export function checkFlapping(state: ElectionState, flapping: Flapping | undefined): Report {
  const about = titleOf(state);
  if (flapping === undefined) return ok("flapping", "leadership is steady", about);
  return finding(
    "flapping",
    describeFlapping(flapping),
    "see why terms end: kubectl describe lease, the leader's log (renew-deadline: the API server was slow, raise the timings with " +
      "--preset low-load; work-ended: its work fails), restarts and CPU limits of the pods",
    about,
  );
}
