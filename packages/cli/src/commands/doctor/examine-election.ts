/** Runs the checks of one election. */
import { after, nearest } from "@tenure/base";
import { KubeError } from "@tenure/kube";
import type { Session } from "../../cluster/session.ts";
import { type Candidate, listCandidates } from "../../elections/candidates.ts";
import { type LockClient, listLocks } from "../../elections/find.ts";
import { flappingOf, readEvents } from "../../elections/flapping.ts";
import { follow } from "../../elections/follow.ts";
import { type LockKind, lockKinds } from "../../elections/lock-object.ts";
import { type ElectionState, leaseSecondsOf } from "../../elections/state.ts";
import { type Subject, subjectOf } from "./access-review.ts";
import type { Advice } from "./advice.ts";
import { checkCandidates } from "./checks/candidates.ts";
import { checkHolder, isHolderMissing } from "./checks/holder.ts";
import { checkIdentities } from "./checks/identities.ts";
import { checkFlapping, checkOrders, checkRecord, checkTwins } from "./checks/lock.ts";
import { checkRights, lockDenied } from "./checks/rights.ts";
import { checkTraffic } from "./checks/traffic.ts";
import { checkWorkload } from "./checks/workloads.ts";
import type { DoctorFlags } from "./doctor-flags.ts";
import type { Facts } from "./facts.ts";
import { candidatesOf } from "./flags.ts";
import { accountOf, configMapsOf, kindsFor, publishedKeys, rulesFor, workloadsOf } from "./participants.ts";
import { finding, fixWith, type Report, skipped } from "./report.ts";
import type { Snapshot } from "./snapshot.ts";
import { isKnown, nameOf, resourceOf, type Workload } from "./workload.ts";

type Doctor = Session<DoctorFlags>;
type Add = (report: Report) => void;

export interface Election {
  readonly name: string;
  /** Its locks; empty if no candidate has created one yet, or if the user may not read them. */
  readonly states: readonly ElectionState[];
  /** The kinds of lock that the user may not read. */
  readonly denied: readonly LockKind[];
}

interface Examination {
  readonly session: Doctor;
  readonly snapshot: Snapshot;
  readonly advice: Advice;
  /** The user of the doctor. */
  readonly self: Subject;
}

export async function examineElection(election: Election, of: Examination, add: Add): Promise<void> {
  const { name, states } = election;
  const { session, snapshot, advice } = of;
  const about = `${session.namespace}/${name}`;
  const [state] = states;
  const nowMs = session.serverClock.nowMs();
  const facts: Facts = { election: name, about, state, snapshot, nowMs, advice };
  const workloads = workloadsOf(name, state?.record.holderIdentity ?? "", snapshot);
  const candidates = state && (await listCandidates(session, state));
  await examineRights(election, workloads, candidates, of, add);
  if (state === undefined) add(await missing(election, about, workloads, of));
  else {
    for (const report of await checkLock(states, workloads, of)) add(report);
    for (const report of checkCandidates(candidates, workloads, facts)) add(report);
  }
  for (const report of checkIdentities(workloads, facts)) add(report);
  for (const workload of workloads) for (const report of checkWorkload(workload, facts)) add(report);
}

async function checkLock(
  states: readonly ElectionState[],
  workloads: readonly Workload[],
  { session, snapshot, advice }: Examination,
): Promise<Report[]> {
  const [state] = states as readonly [ElectionState];
  const nowMs = session.serverClock.nowMs();
  const events = await readEvents(session.client, state).catch(() => []);
  const isRenewed =
    isHolderMissing(state, snapshot) && state.standing === "led" && (await isRenewedSoon(session, state));
  return [
    ...checkRecord(state, advice),
    checkHolder(state, snapshot, workloads, isRenewed, advice),
    ...checkTwins(states, advice),
    ...checkOrders(state, nowMs, advice),
    checkFlapping(state, flappingOf(state, events, nowMs), advice),
    ...checkTraffic(state, snapshot, advice, publishedKeys(workloads, state.name)),
  ];
}

/**
 * Checks the rights of the workloads that take part. If none is known and nobody leads, those of the current user, who may be
 * about to start a candidate.
 */
async function examineRights(
  { name, states, denied }: Election,
  workloads: readonly Workload[],
  candidates: readonly Candidate[] | undefined,
  { session: { client, flags, namespace }, self, advice }: Examination,
  add: Add,
): Promise<void> {
  if (flags.as !== undefined) return;
  const about = `${namespace}/${name}`;
  if (workloads.length === 0 && states.length === 0 && denied.length === 0)
    add(await checkRights(client, self, rulesFor(name, ["lease"], [], true), advice, about));
  for (const workload of workloads) {
    const account = accountOf(workload, name, namespace);
    if (account === undefined) {
      const what = `${nameOf(workload)} has a kubeconfig of its own, so its rights are not known`;
      add(skipped("rights", what, about));
      continue;
    }
    const containers = candidatesOf(workload, name);
    // Candidates that show themselves are on tenure, even if no flag shows it.
    const isTenure = candidates !== undefined && candidates.length > 0 ? true : undefined;
    const existing = await existingConfigMaps(client, namespace, configMapsOf(containers));
    const rules = rulesFor(name, kindsFor(workload, name, states), containers, isTenure, existing);
    add(await checkRights(client, subjectOf(account), rules, advice, about));
  }
}

/** Those that exist. One that the user may not read counts, because nothing shows that it is missing. */
async function existingConfigMaps(
  client: LockClient,
  namespace: string,
  names: readonly string[],
): Promise<readonly string[]> {
  const exists = async (name: string) => {
    try {
      await client.request({ method: "GET", path: `/api/v1/namespaces/${namespace}/configmaps/${name}` });
      return true;
    } catch (error) {
      if (!(error instanceof KubeError) || (error.code !== "NotFound" && error.code !== "Forbidden"))
        throw error;
      return error.code === "Forbidden";
    }
  };
  const answers = await Promise.all(names.map(exists));
  return names.filter((_, index) => answers[index]);
}

/** Why there is no lock. Nothing that the user may not read counts as missing. */
async function missing(
  { name, denied }: Election,
  about: string,
  workloads: readonly Workload[],
  { session, advice, self }: Examination,
): Promise<Report> {
  if (denied.includes("lease")) return lockDenied("lease", name, self, advice, about);
  const [workload] = workloads;
  if (workload) {
    return finding(
      "lock",
      `the lock does not exist although ${nameOf(workload)} takes part: none of its pods has ever led`,
      fixWith(
        "check the rights above, and the logs of its pods",
        isKnown(workload) ? advice.kubectl(`logs ${resourceOf(workload)}`) : undefined,
      ),
      about,
    );
  }
  const names = (await listLocks(session, session.namespace, "lease").catch(() => [])).map(
    (state) => state.name,
  );
  const meant = nearest(name, names);
  const fix =
    meant === undefined
      ? "choose another namespace with -n (see tenure list -A), or start a candidate"
      : `did you mean ${meant}?`;
  const others = denied.map((kind) => lockKinds[kind].plural).join(" and ");
  const what =
    others === ""
      ? "the election does not exist, and no workload takes part in it"
      : `there is no Lease of this name. You may not get ${others}, so whether one of those is the lock is unknown`;
  return finding("lock", what, fix, about);
}

/** With the usual timings, a live leader renews within this time. */
const longestWaitMs = 10_000;

async function isRenewedSoon(session: Doctor, state: ElectionState): Promise<boolean> {
  const stop = new AbortController();
  const waitMs = Math.min(leaseSecondsOf(state.record) * 700, longestWaitMs);
  const cancel = after(session.platform.clock, waitMs, () => stop.abort());
  let isRenewed = false;
  try {
    await follow(session, {
      kind: state.kind,
      namespace: state.namespace,
      name: state.name,
      signal: stop.signal,
      onState({ record }) {
        if (record.renewTime === state.record.renewTime) return;
        isRenewed = record.holderIdentity === state.record.holderIdentity;
        stop.abort();
      },
      onDeleted: () => stop.abort(),
    });
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
  } finally {
    cancel();
  }
  return isRenewed;
}
