/** Checks the lock itself: its record, its orders, and locks of another kind with the same name. Pure. */
import { leaderAnnotation, orderAnnotations } from "@tenure/election/internal";
import { describeFlapping, titleOf } from "../../../display/descriptions.ts";
import { ago, spell } from "../../../display/durations.ts";
import type { Flapping } from "../../../elections/flapping.ts";
import { lockKinds, writtenAtMs } from "../../../elections/lock-object.ts";
import { type ElectionState, leaseSecondsOf } from "../../../elections/state.ts";
import type { Advice } from "../advice.ts";
import { type Fix, finding, hint, ok, type Report } from "../report.ts";

/** After a crash nobody leads for this long. A longer lease duration is probably a wrong unit. */
const longestLeaseSeconds = 3_600;
/** The longest of the presets. A longer one may be intended. */
const usualLeaseSeconds = 60;
/** A longer pause was probably forgotten. */
const longestPauseMs = 3_600_000;
/** A leader that obeys orders has done so by then. */
const longestOrderMs = 120_000;

export function checkRecord(state: ElectionState, advice: Advice): Report[] {
  const about = titleOf(state);
  const { record, holderClockOffMs } = state;
  const reports: Report[] = [];
  if (record.problem !== undefined) {
    return [
      finding("record", `the record is not readable: ${record.problem}`, repairOf(state, advice), about),
    ];
  }
  const seconds = record.leaseDurationSeconds;
  if (record.holderIdentity !== "" && (seconds === undefined || seconds <= 0)) {
    const what = `leaseDurationSeconds is ${seconds ?? "missing"}, so each candidate waits for a different time`;
    reports.push(
      finding(
        "timings",
        what,
        "set --lease-duration on the leader (15s is usual), which writes it with its next renewal",
        about,
      ),
    );
  } else if (seconds !== undefined && seconds > longestLeaseSeconds) {
    const what = `leaseDurationSeconds is ${seconds} (${spell(seconds * 1_000)}): after a crash nobody takes over for that long`;
    reports.push(finding("timings", what, "set --lease-duration on every candidate (15s is usual)", about));
  } else if (seconds !== undefined && seconds > usualLeaseSeconds) {
    const what = `the lease duration is ${spell(seconds * 1_000)}: a failover after a crash takes that long`;
    reports.push(hint("timings", what, "set a shorter --lease-duration if that is too slow", about));
  } else if (record.holderIdentity !== "") {
    reports.push(ok("timings", `the lease duration is ${leaseSecondsOf(record)}s`, about));
  }
  if (holderClockOffMs !== undefined && record.holderIdentity !== "") {
    const direction = holderClockOffMs > 0 ? "ahead of" : "behind";
    const what = `the clock of ${record.holderIdentity} is ${spell(Math.abs(holderClockOffMs))} ${direction} that of the API server`;
    const fix =
      "synchronize the clock of its node with NTP. The election works anyway, but people read renewTime, and tokens expire";
    reports.push(finding("clock", what, fix, about));
  }
  return reports;
}

/** Candidates write a valid record as soon as there is none. */
function repairOf({ kind, name }: ElectionState, advice: Advice): Fix {
  if (advice.where === "store") return "correct it in the store, or delete it while no candidate runs";
  const fix = "remove the record while no candidate works: the next one writes a new record";
  return kind === "lease"
    ? { fix, command: advice.kubectl(`edit lease ${name}`) }
    : { fix, command: advice.kubectl(`annotate ${kind} ${name} ${leaderAnnotation}-`) };
}

export function checkTwins(states: readonly ElectionState[], advice: Advice): Report[] {
  const [first, ...others] = states;
  if (first === undefined || others.length === 0) return [];
  const about = titleOf(first);
  const name = (state: ElectionState) => `the ${lockKinds[state.kind].apiKind}`;
  return others.map((other) => {
    if (first.leader !== undefined && other.leader !== undefined && first.leader !== other.leader) {
      return finding(
        "twins",
        `there are two leaders: ${first.leader} holds ${name(first)}, ${other.leader} holds ${name(other)}. The migration from one to the other is incomplete`,
        `first set --lock=${other.kind}+lease on every replica, which takes both locks, and only then --lock=lease; ` +
          "until then scale the newer replicas to 0",
        about,
      );
    }
    if (other.leader !== undefined)
      return ok("twins", `${name(first)} and ${name(other)} have the same holder`, about);
    return hint(
      "twins",
      `${name(other)} has the same name and nobody holds it: is it left from a migration?`,
      {
        fix: "remove its record when no old replica is left",
        command: advice.kubectl(`annotate ${other.kind} ${other.name} ${leaderAnnotation}-`),
      },
      about,
    );
  });
}

export function checkOrders(state: ElectionState, serverNowMs: number, advice: Advice): Report[] {
  const about = titleOf(state);
  const { orders, record } = state;
  const sinceMs = (annotation: string) => {
    const atMs = writtenAtMs(state.object, ["f:metadata", "f:annotations", `f:${annotation}`]);
    return atMs === undefined ? undefined : Math.max(0, serverNowMs - atMs);
  };
  const reports: Report[] = [];
  if (orders.paused) {
    const forMs = sinceMs(orderAnnotations.paused);
    const what = `paused${forMs === undefined ? "" : ` ${ago(forMs)}`}: no candidate takes over`;
    const fix = { fix: "resume the election", command: advice.tenure(`resume ${state.name}`) };
    const isForgotten = forMs === undefined || forMs > longestPauseMs;
    reports.push((isForgotten ? finding : hint)("orders", what, fix, about));
    if (state.standing === "led") {
      const ignored = `${record.holderIdentity} leads in spite of the pause: it is not a tenure candidate, or its work does not stop`;
      if ((forMs ?? 0) > longestOrderMs)
        reports.push(
          finding("orders", ignored, "stop it in another way, for example by scaling it to 0", about),
        );
    }
  }
  const pending = orders.stepDown
    ? orderAnnotations.stepDown
    : orders.transferAccepted
      ? orderAnnotations.transfer
      : undefined;
  const pendingMs = pending === undefined ? undefined : sinceMs(pending);
  if (pending !== undefined && state.standing === "led" && (pendingMs ?? 0) > longestOrderMs) {
    reports.push(
      finding(
        "orders",
        `${record.holderIdentity} was told to hand over ${ago(pendingMs ?? 0)} and still leads: it is not a tenure candidate, or its work does not stop`,
        withdrawalOf(
          state,
          pending,
          "stop it in another way to move leadership, and withdraw the order",
          advice,
        ),
        about,
      ),
    );
  }
  if (orders.transferTo !== undefined && !orders.transferAccepted) {
    const what = `${orders.transferTo} was asked to take over and has not answered: no candidate has this name, or it cannot lead now`;
    const fix = withdrawalOf(state, orderAnnotations.transfer, "withdraw the order", advice);
    reports.push(hint("orders", what, fix, about));
  }
  return reports.length > 0 ? reports : [ok("orders", "no order is pending", about)];
}

/** A store has no kubectl. There an order ends with the term. */
function withdrawalOf({ kind, name }: ElectionState, order: string, fix: string, advice: Advice): Fix {
  if (advice.where === "store") return "stop the leader in another way: the order ends with its term";
  return { fix, command: advice.kubectl(`annotate ${kind} ${name} ${order}-`) };
}

export function checkFlapping(state: ElectionState, flapping: Flapping | undefined, advice: Advice): Report {
  const about = titleOf(state);
  if (flapping === undefined) return ok("flapping", "leadership is steady", about);
  return finding(
    "flapping",
    describeFlapping(flapping),
    {
      fix:
        "find out why terms end: the events of the lock, the leader's log (renew-deadline: the API server was slow, so raise the " +
        "timings with --preset low-load; work-ended: its work fails), restarts and CPU limits of the pods",
      command: advice.kubectl(`describe ${state.kind} ${state.name}`),
    },
    about,
  );
}
