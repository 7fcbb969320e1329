/** Runs the checks in their order. What they need from the server is read here, and the checks themselves are pure where possible. */
import { KubeError } from "@tenure/kube";
import { electionLabel } from "@tenure/traffic/internal";
import type { Session } from "../../cluster/session.ts";
import { allKinds, listLocks, readLocks } from "../../elections/find.ts";
import { isApiServerIdentity, isElection } from "../../elections/other-leases.ts";
import { defaultKubeconfigPath } from "../../platform.ts";
import { selfSubject, subjectOf } from "./access-review.ts";
import { type Advice, adviceFor } from "./advice.ts";
import {
  checkClock,
  checkCredentials,
  checkLatency,
  checkNamespace,
  checkWatch,
} from "./checks/connection.ts";
import { checkRights, lockDenied, surroundingsDenied } from "./checks/rights.ts";
import { checkStranger } from "./checks/workloads.ts";
import type { DoctorFlags } from "./doctor-flags.ts";
import { type Election, examineElection } from "./examine-election.ts";
import { candidatesOf, electionsOf } from "./flags.ts";
import { lockRules, workloadsOf } from "./participants.ts";
import { renewDeadlineFor } from "./renew-deadline.ts";
import type { Report } from "./report.ts";
import { type Snapshot, takeSnapshot } from "./snapshot.ts";

type Doctor = Session<DoctorFlags>;
type Add = (report: Report) => void;

export function adviceIn({ flags, namespace, platform, store, lockUrl }: Doctor): Advice {
  return adviceFor({
    namespace,
    flags,
    isStore: store !== undefined,
    lock: lockUrl,
    isPod: Boolean(platform.env("KUBERNETES_SERVICE_HOST")) && !platform.env("KUBECONFIG"),
    sandboxKubeconfig: defaultKubeconfigPath(platform),
  });
}

/** Checks everything, and reports each result as soon as it is known. */
export async function examine(name: string | undefined, session: Doctor, report: Add): Promise<void> {
  const advice = adviceIn(session);
  const add = withoutRepetition(report);
  if (session.openLock) {
    const { examineStore } = await import("./checks/store.ts");
    await examineStore(name, session, session.openLock, advice, add);
    return;
  }
  const { report: credentials, user } = await checkCredentials(session, advice);
  add(credentials);
  // Without credentials every other check would fail in the same way.
  if (credentials.verdict === "finding") return;
  const namespace = await checkNamespace(session, advice);
  add(namespace);
  if (namespace.verdict === "finding") return;

  const self = selfSubject(user);
  const snapshot = await takeSnapshot(session.client, session.namespace, electionLabel);
  for (const denial of snapshot.denials) add(surroundingsDenied(denial, self, advice));
  const { elections, isDenied } = await electionsIn(name, session, snapshot);
  if (isDenied) add(lockDenied("lease", undefined, self, advice));
  await examineConnection(name, elections, session, snapshot, add);
  const as = session.flags.as;
  if (as !== undefined || (elections.length === 0 && !isDenied)) {
    const subject = as === undefined ? self : subjectOf(as);
    add(await checkRights(session.client, subject, lockRules("lease", name), advice));
  }
  for (const election of elections) await examineElection(election, { session, snapshot, advice, self }, add);
  if (name === undefined) examineStrangers(elections, session, snapshot, advice, add);
}

async function examineConnection(
  name: string | undefined,
  elections: readonly Election[],
  session: Doctor,
  snapshot: Snapshot,
  add: Add,
): Promise<void> {
  const first = elections.find(({ states }) => states.length > 0);
  const state = first?.states[0];
  const candidates = workloadsOf(first?.name ?? "", state?.record.holderIdentity ?? "", snapshot).flatMap(
    (workload) => candidatesOf(workload, first?.name ?? ""),
  );
  const { deadlineMs, source } = renewDeadlineFor(session.flags, state, candidates);
  add(await checkLatency(session, first?.name ?? name ?? "tenure-doctor", deadlineMs, source));
  const hasLease = first?.states.some(({ kind }) => kind === "lease") ?? false;
  add(await checkWatch(session, first?.name ?? name, hasLease));
  add(checkClock(session));
}

/** The elections to examine: the named one, or those of the Leases and of the flags of workloads. Denied: the Leases. */
async function electionsIn(
  name: string | undefined,
  session: Doctor,
  snapshot: Snapshot,
): Promise<{ readonly elections: readonly Election[]; readonly isDenied: boolean }> {
  const { namespace } = session;
  const read = async (each: string): Promise<Election> => {
    const [states, denials] = await readLocks(session, namespace, each);
    const denied = allKinds.filter((kind) => denials.some((denial) => denial.kind === kind));
    return { name: each, states, denied };
  };
  if (name !== undefined) return { elections: [await read(name)], isDenied: false };
  const names = new Set((snapshot.workloads ?? []).flatMap(electionsOf));
  let isDenied = false;
  try {
    for (const lease of await listLocks(session, namespace, "lease"))
      if (isElection(lease) && !isApiServerIdentity(lease)) names.add(lease.name);
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== "Forbidden") throw error;
    isDenied = true;
  }
  return { elections: await Promise.all([...names].map(read)), isDenied };
}

/** Workloads whose election is not known may still hang in a rollout, or work without an election. */
function examineStrangers(
  elections: readonly Election[],
  session: Doctor,
  snapshot: Snapshot,
  advice: Advice,
  add: Add,
): void {
  const known = new Set(
    elections.flatMap(({ name, states }) =>
      workloadsOf(name, states[0]?.record.holderIdentity ?? "", snapshot).map(
        ({ metadata }) => metadata.name,
      ),
    ),
  );
  const facts = { election: undefined, about: undefined, state: undefined, snapshot, advice };
  for (const workload of snapshot.workloads ?? []) {
    if (known.has(workload.metadata.name)) continue;
    for (const report of checkStranger(workload, { ...facts, nowMs: session.serverClock.nowMs() }))
      add(report);
  }
}

/** A workload that takes part in two elections has each of its faults once. */
function withoutRepetition(add: Add): Add {
  const seen = new Set<string>();
  return (report) => {
    const key = `${report.check} ${report.what}`;
    if (report.verdict !== "ok" && seen.has(key)) return;
    seen.add(key);
    add(report);
  };
}
