/** The checks of an election whose lock is not in Kubernetes: the store, its notifications, the lock. */
import { first } from "@tenure/base";
import type { OperableLock } from "@tenure/election/internal";
import type { Session } from "../../../cluster/session.ts";
import { readLocks } from "../../../elections/find.ts";
import type { Advice } from "../advice.ts";
import type { DoctorFlags } from "../doctor-flags.ts";
import { finding, hint, ok, type Report } from "../report.ts";
import { checkOrders, checkRecord } from "./lock.ts";

/** Longer than a test notification may take. */
const watchWaitMs = 6_000;
const requestLimitMs = 10_000;

export async function examineStore(
  name: string | undefined,
  session: Session<DoctorFlags>,
  open: (name: string) => Promise<OperableLock>,
  advice: Advice,
  add: (report: Report) => void,
): Promise<void> {
  const lock = await open(name ?? "tenure-doctor");
  const limit = AbortSignal.timeout(requestLimitMs);
  const startMs = session.monotonicMs();
  const answer = await lock.read(limit);
  if (answer.kind === "failed") {
    const [what = "", ...fix] = answer.failure.message.split(". ");
    add(
      finding("store", what, fix.join(". ") || "check that the store runs and that this machine reaches it"),
    );
    return;
  }
  add(ok("store", `${session.server} answers in ${Math.round(session.monotonicMs() - startMs)} ms`));
  for (const text of await hintsOf(lock, limit)) add(hint("durability", ...split(text)));
  add(await checkWatch(lock, session));
  if (name === undefined) return;
  const about = `${session.namespace}/${name}`;
  if (answer.kind !== "found") {
    const fix = "start a candidate, or correct the name (see tenure list)";
    add(finding("lock", "the election does not exist", fix, about));
    return;
  }
  const [states] = await readLocks(session, session.namespace, name, ["lease"]);
  for (const state of states) {
    const reports = [
      ...checkRecord(state, advice),
      ...checkOrders(state, session.serverClock.nowMs(), advice),
    ];
    for (const report of reports) add(report);
  }
}

async function hintsOf(lock: OperableLock, limit: AbortSignal): Promise<readonly string[]> {
  return (await lock.hints?.(limit).catch(() => [])) ?? [];
}

async function checkWatch(lock: OperableLock, { platform }: Session<DoctorFlags>): Promise<Report> {
  const ending = new AbortController();
  let problem = "the store did not start a watch in time";
  let onUp = () => {};
  const up = new Promise<void>((resolve) => {
    onUp = resolve;
  });
  const down = new Promise<void>((resolve) => {
    const onDown = (failure: { message: string } | undefined) => {
      problem = failure?.message ?? problem;
      resolve();
    };
    lock.watch?.({ observed() {}, deleted() {}, changed() {}, up: onUp, down: onDown }, ending.signal);
  });
  const outcome = await first(platform.clock, { up, down, late: watchWaitMs });
  ending.abort();
  if (outcome === "up") return ok("watch", "changes of the lock are reported at once");
  const [what, fix] = split(problem);
  return hint("watch", what, fix);
}

/** What is wrong, and what to do about it. */
function split(text: string): [string, string] {
  const [what = "", ...rest] = text.split(/; |\. /);
  return [what, rest.join(". ") || "candidates read the lock every retryPeriod instead"];
}
