/**
 * `tenure doctor`: checks everything that an election depends on, and reports each problem with its fix. It changes nothing.
 * It reports what it may not read as skipped, and does not guess.
 */
import { after, nearest, oneOfProblem, type Problem, parseDuration } from "@tenure/base";
import { presets } from "@tenure/core";
import { KubeError } from "@tenure/kube";
import { electionLabel } from "@tenure/traffic/internal";
import { durationProblems, type Session } from "../../cluster/session.ts";
import { serialize } from "../../display/output.ts";
import { listCandidates } from "../../elections/candidates.ts";
import { listLocks, readLocks } from "../../elections/find.ts";
import { flappingOf, readEvents } from "../../elections/flapping.ts";
import { follow } from "../../elections/follow.ts";
import { isApiServerIdentity, isElection } from "../../elections/other-leases.ts";
import { type ElectionState, leaseSecondsOf } from "../../elections/state.ts";
import { checkCandidates } from "./checks/candidates.ts";
import {
  checkClock,
  checkCredentials,
  checkLatency,
  checkNamespace,
  checkWatch,
} from "./checks/connection.ts";
import { checkHolder, checkIdentities, isHolderMissing } from "./checks/holder.ts";
import { checkFlapping, checkOrders, checkRecord, checkTwins } from "./checks/lock.ts";
import { checkRights, subjectOf } from "./checks/rights.ts";
import { checkTraffic } from "./checks/traffic.ts";
import { checkWorkload } from "./checks/workloads.ts";
import type { DoctorFlags } from "./doctor-flags.ts";
import { accountOf, kindsFor, lockRules, publishedKeys, rulesFor, workloadsOf } from "./participants.ts";
import { finding, printReport, type Report, skipped, summary } from "./report.ts";
import { type Snapshot, takeSnapshot } from "./snapshot.ts";
import { candidatesOf, electionsOf, flagOf, type Workload } from "./workload.ts";

export function doctorProblems({ preset, renewDeadline }: DoctorFlags): Problem[] {
  return [
    ...durationProblems("renewDeadline", renewDeadline),
    ...(preset === undefined || Object.hasOwn(presets, preset)
      ? []
      : [oneOfProblem("preset", Object.keys(presets), preset)]),
  ];
}

type Doctor = Session<DoctorFlags>;

/** @returns the exit code: 1 if there is a finding */
export async function doctor(name: string | undefined, session: Doctor): Promise<number> {
  const { flags, paint } = session;
  const isPlainText = flags.output === undefined;
  const reports: Report[] = [];
  const add = (report: Report) => {
    reports.push(report);
    if (isPlainText) session.print(printReport(report, paint));
  };
  await examine(name, session, add);
  const findings = reports.filter(({ verdict }) => verdict === "finding").length;
  if (flags.output === "json" || flags.output === "yaml") {
    session.print(await serialize(flags.output, { ok: findings === 0, findings, checks: reports }));
  } else session.print(`\n${summary(reports)}`);
  return findings === 0 ? 0 : 1;
}

/** Checks everything, and reports each result as soon as it is known. */
export async function examine(
  name: string | undefined,
  session: Doctor,
  add: (report: Report) => void,
): Promise<void> {
  if (session.openLock) {
    const { examineStore } = await import("./checks/store.ts");
    await examineStore(name, session, session.openLock, add);
    return;
  }
  const credentials = await checkCredentials(session);
  add(credentials);
  // Without credentials every other check would fail in the same way.
  if (credentials.verdict === "finding") return;
  const namespace = await checkNamespace(session);
  add(namespace);
  if (namespace.verdict === "finding") return;

  const snapshot = await takeSnapshot(session.client, session.namespace, electionLabel);
  for (const denial of snapshot.denials) add(skipped("surroundings", denial));
  const elections = await electionsIn(name, session, snapshot);
  const first = elections.find(({ states }) => states.length > 0);
  const { deadlineMs, source } = renewDeadlineFor(session.flags, first?.states[0], snapshot, first?.name);
  add(await checkLatency(session, first?.name ?? name ?? "tenure-doctor", deadlineMs, source));
  add(
    await checkWatch(
      session,
      first?.name ?? name,
      first?.states.some(({ kind }) => kind === "lease") ?? false,
    ),
  );
  add(checkClock(session));
  if (session.flags.as !== undefined || elections.length === 0) {
    const subject =
      session.flags.as === undefined ? { description: "this user" } : subjectOf(session.flags.as);
    add(await checkRights(session.client, subject, session.namespace, lockRules("lease", name)));
  }
  for (const election of elections) await examineElection(election, session, snapshot, add);
}

interface Election {
  readonly name: string;
  /** Its locks; empty if no candidate has created one yet. */
  readonly states: readonly ElectionState[];
}

async function electionsIn(
  name: string | undefined,
  session: Doctor,
  snapshot: Snapshot,
): Promise<Election[]> {
  const named = (snapshot.workloads ?? []).flatMap(electionsOf);
  try {
    if (name !== undefined) return [{ name, states: (await readLocks(session, session.namespace, name))[0] }];
    const leases = await listLocks(session, session.namespace, "lease");
    const names = leases
      .filter((state) => isElection(state) && !isApiServerIdentity(state))
      .map((state) => state.name);
    return await Promise.all(
      [...new Set([...names, ...named])].map(async (each) => ({
        name: each,
        states: (await readLocks(session, session.namespace, each))[0],
      })),
    );
  } catch (error) {
    // checkRights reports what is missing.
    if (error instanceof KubeError && error.code === "Forbidden") return [];
    throw error;
  }
}

async function examineElection(
  { name, states }: Election,
  session: Doctor,
  snapshot: Snapshot,
  add: (report: Report) => void,
): Promise<void> {
  const about = `${session.namespace}/${name}`;
  const [state] = states;
  const workloads = workloadsOf(name, state?.record.holderIdentity ?? "", snapshot);
  await examineRights(name, states, workloads, session, add);
  if (state === undefined) add(await missing(name, about, workloads, session));
  else {
    const nowMs = session.serverClock.nowMs();
    const events = await readEvents(session.client, state).catch(() => []);
    const isRenewed =
      isHolderMissing(state, snapshot) && state.standing === "led" && (await isRenewedSoon(session, state));
    for (const report of [
      ...checkRecord(state),
      checkHolder(state, snapshot, workloads, isRenewed),
      ...checkTwins(states),
      ...checkOrders(state, nowMs),
      checkFlapping(state, flappingOf(state, events, nowMs)),
      ...checkTraffic(state, snapshot, publishedKeys(workloads, name)),
    ])
      add(report);
  }
  const candidates = state && (await listCandidates(session, state));
  for (const report of checkCandidates(candidates, workloads, name, snapshot, about)) add(report);
  for (const report of checkIdentities(snapshot, workloads, about)) add(report);
  for (const workload of workloads)
    for (const report of checkWorkload(workload, name, snapshot, about)) add(report);
}

/** Checks the rights of the workloads that take part; if none is known, those of the current user, who may be about to start one. */
async function examineRights(
  name: string,
  states: readonly ElectionState[],
  workloads: readonly Workload[],
  { client, flags, namespace }: Doctor,
  add: (report: Report) => void,
): Promise<void> {
  if (flags.as !== undefined) return;
  const about = `${namespace}/${name}`;
  if (workloads.length === 0) {
    const kinds = states.length > 0 ? states.map(({ kind }) => kind) : (["lease"] as const);
    add(await checkRights(client, { description: "this user" }, namespace, rulesFor(name, kinds, []), about));
  }
  for (const workload of workloads) {
    const rules = rulesFor(name, kindsFor(workload, name, states), candidatesOf(workload, name));
    add(await checkRights(client, subjectOf(accountOf(workload, namespace)), namespace, rules, about));
  }
}

async function missing(
  name: string,
  about: string,
  workloads: readonly Workload[],
  session: Doctor,
): Promise<Report> {
  const [workload] = workloads;
  if (workload) {
    const what = `the lock does not exist although ${workload.kind} ${workload.metadata.name} takes part: none of its pods has ever led`;
    return finding("lock", what, "check the rights above, and the logs of its pods (kubectl logs)", about);
  }
  const names = (await listLocks(session, session.namespace, "lease").catch(() => [])).map(
    (state) => state.name,
  );
  const meant = nearest(name, names);
  const fix =
    meant === undefined
      ? "choose another namespace with -n (see tenure list -A), or start a candidate"
      : `did you mean ${meant}?`;
  return finding("lock", "the election does not exist, and no workload takes part in it", fix, about);
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

/** The renew deadline to compare latency with: from a flag, from the workload, or estimated from the lease duration. */
function renewDeadlineFor(
  { renewDeadline, preset }: DoctorFlags,
  state: ElectionState | undefined,
  snapshot: Snapshot,
  name: string | undefined,
): { deadlineMs: number; source: string } {
  const given = parseDuration(renewDeadline);
  if (given !== undefined) return { deadlineMs: given, source: "--renew-deadline" };
  const of = (key: string) => parseDuration(presets[key as keyof typeof presets]?.renewDeadline);
  const byPreset = preset === undefined ? undefined : of(preset);
  if (byPreset !== undefined) return { deadlineMs: byPreset, source: `--preset ${preset}` };
  const containers = workloadsOf(name ?? "", state?.record.holderIdentity ?? "", snapshot).flatMap(
    (workload) => candidatesOf(workload, name ?? ""),
  );
  for (const container of containers) {
    const flag = parseDuration(flagOf(container, "renew-deadline")) ?? of(flagOf(container, "preset") ?? "");
    if (flag !== undefined) return { deadlineMs: flag, source: "from the workload" };
  }
  const seconds = state?.standing === "led" ? state.record.leaseDurationSeconds : undefined;
  // In all presets it is two thirds of the lease duration or more. A lease of a day says nothing about latency.
  if (seconds !== undefined && seconds > 0 && seconds <= 60) {
    return { deadlineMs: Math.round((seconds * 20) / 3) * 100, source: "two thirds of the lease duration" };
  }
  return { deadlineMs: of("standard") as number, source: "the default" };
}
