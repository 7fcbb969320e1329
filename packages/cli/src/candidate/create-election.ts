/** Creates the election that the flags describe. */
import { describeProblems, type Problem, quote, readDuration } from "@tenure/base";
import { checkIdentity, checkTimings, type TimingOptions, timingWarnings } from "@tenure/core";
import {
  ConfigMapLock,
  Election,
  type ElectionOptions,
  EndpointsLock,
  LeaseLock,
  type Lock,
  MigrationLock,
} from "@tenure/election";
import { checkLockOptions } from "@tenure/election/internal";
import type { KubeClient } from "@tenure/kube";
import type { Connection } from "../cluster/connect.ts";
import type { Platform } from "../platform.ts";
import { type ElectionFlags, lockChoices } from "../settings/election-options.ts";
import { flagOf, type NameOf } from "../settings/problems.ts";
import { isLockUrl, lockUrlProblems, unknownLockProblem } from "../stores/lock-url.ts";

/** Everything that is wrong with the flags of an election. */
export function electionProblems(
  flags: ElectionFlags & { readonly namespace?: string },
  platform: Platform,
  nameOf: NameOf = flagOf,
): Problem[] {
  const problems = [
    ...checkTimings(timingsFrom(flags)).problems,
    ...checkIdentity(identityFrom(flags, platform)).problems,
    ...lockProblems(flags),
    ...lockUrlProblems(flags, nameOf),
  ];
  if (flags.announce && isLockUrl(flags.lock))
    problems.push({
      field: "announce",
      rule: "needs a lock in Kubernetes, because it records Kubernetes Events",
    });
  for (const field of ["cooldown", "logLeaderEvery"] as const) {
    if (flags[field] !== undefined) readDuration(field, flags[field], problems, { mayBeZero: true });
  }
  if (flags.priority !== undefined && !/^(\d|10)$/.test(flags.priority)) {
    problems.push({
      field: "priority",
      rule: "must be a whole number from 0 to 10",
      value: quote(flags.priority),
    });
  }
  return problems;
}

/** What is allowed but not advisable, for the log: one sentence each. */
export function electionWarnings(flags: ElectionFlags, nameOf: NameOf): readonly string[] {
  return describeProblems(timingWarnings(timingsFrom(flags)), nameOf);
}

/** @param extra options that do not come from flags: `onOverrun`, `clock`, `metrics` */
export function createElection(
  flags: ElectionFlags,
  lock: Lock,
  platform: Platform,
  extra: Partial<ElectionOptions> = {},
): Election {
  return new Election({
    ...timingsFrom(flags),
    lock,
    identity: identityFrom(flags, platform) ?? "",
    announce: flags.announce ?? false,
    register: flags.register ?? true,
    waitWhenAbsent: flags.waitWhenAbsent ?? false,
    failWhenDenied: flags.failWhenDenied ?? false,
    noFailover: flags.failover === false,
    ...(flags.priority === undefined ? {} : { priority: Number(flags.priority) }),
    ...(flags.cooldown === undefined ? {} : { cooldown: flags.cooldown }),
    ...extra,
  });
}

export function identityFrom({ id }: ElectionFlags, platform: Platform): string | undefined {
  return id ?? platform.env("POD_NAME");
}

export function timingsFrom(flags: ElectionFlags): TimingOptions {
  const { preset, leaseDuration, renewDeadline, retryPeriod, renewInterval } = flags;
  return {
    ...(preset === undefined ? {} : { preset: preset as NonNullable<TimingOptions["preset"]> }),
    ...(leaseDuration === undefined ? {} : { leaseDuration }),
    ...(renewDeadline === undefined ? {} : { renewDeadline }),
    ...(retryPeriod === undefined ? {} : { retryPeriod }),
    ...(renewInterval === undefined ? {} : { renewInterval }),
  };
}

/** The lock of --lock: one object with this name, or two during a migration. */
export function createLock(
  { lock = "lease", leaseLockName: name = "" }: ElectionFlags,
  { namespace }: Pick<Connection, "namespace">,
  client: KubeClient,
): Lock {
  const options = { name, namespace, client };
  switch (lock as (typeof lockChoices)[number]) {
    case "lease":
      return new LeaseLock(options);
    case "configmap":
      return new ConfigMapLock(options);
    case "endpoints":
      return new EndpointsLock(options);
    case "configmap+lease":
      return new MigrationLock({ from: new ConfigMapLock(options), to: new LeaseLock(options) });
    case "endpoints+lease":
      return new MigrationLock({ from: new EndpointsLock(options), to: new LeaseLock(options) });
  }
}

function lockProblems(flags: ElectionFlags & { readonly namespace?: string }): readonly Problem[] {
  const { lock = "lease", leaseLockName: name, namespace = "default" } = flags;
  return [
    ...(isLockUrl(lock) || lockChoices.some((kind) => kind === lock)
      ? []
      : [unknownLockProblem(lock, lockChoices)]),
    ...(name === undefined
      ? [{ field: "name", rule: "must be set: it is the name of the lock, the same for all replicas" }]
      : []),
    ...checkLockOptions({ name: name ?? "unset", namespace }),
  ];
}
