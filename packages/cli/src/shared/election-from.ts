/** The election that the flags describe. All that is wrong with them is named at once, in the words of the command line. */
import { describeProblems, oneOfProblem, type Problem } from "@tenure/base";
import { checkIdentity, checkTimings, type TimingOptions } from "@tenure/core";
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
import type { Platform } from "../platform.ts";
import { newClient } from "./connect.ts";
import type { Connection } from "./connection.ts";
import { type ElectionFlags, lockKinds } from "./election-options.ts";
import { durationMs } from "./problems.ts";

const flagNames: Readonly<Record<string, string>> = {
  leaseDuration: "--lease-duration",
  renewDeadline: "--renew-deadline",
  retryPeriod: "--retry-period",
  renewInterval: "--renew-interval",
  preset: "--preset",
  identity: "--id",
  namespace: "--lease-lock-namespace",
  name: "--lease-lock-name",
  lock: "--lock",
};

const flagName = (field: string) => flagNames[field] ?? field;

/** Everything that is wrong with the flags of an election, a sentence each. */
export function electionProblems(
  flags: ElectionFlags & { readonly namespace?: string },
  platform: Platform,
): string[] {
  const found = [
    ...checkTimings(timingsFrom(flags)).problems,
    ...checkIdentity(identityFrom(flags, platform)).problems,
    ...lockProblems(flags),
  ];
  const problems = [...describeProblems(found, flagName)];
  durationMs("--cooldown", flags.cooldown, problems);
  durationMs("--log-leader-every", flags.logLeaderEvery, problems);
  return problems;
}

/** @param extra what the command knows better than the flags: `onOverrun`, `stopWithin`, `metrics` */
export function electionFrom(
  flags: ElectionFlags,
  connection: Connection,
  platform: Platform,
  extra: Partial<ElectionOptions> = {},
): Election {
  return new Election({
    ...timingsFrom(flags),
    lock: lockFrom(flags, connection, newClient(connection.config, platform, "tenure leader-election")),
    identity: identityFrom(flags, platform) ?? "",
    announce: flags.announce ?? false,
    waitWhenAbsent: flags.waitWhenAbsent ?? false,
    failWhenDenied: flags.failWhenDenied ?? false,
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

/** The lock of --lock, as an object (or two) of that name. */
export function lockFrom(
  { lock = "lease", leaseLockName: name = "" }: ElectionFlags,
  { namespace }: Pick<Connection, "namespace">,
  client: KubeClient,
): Lock {
  const options = { name, namespace, client };
  switch (lock as (typeof lockKinds)[number]) {
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
    ...(lockKinds.some((kind) => kind === lock) ? [] : [oneOfProblem("lock", lockKinds, lock)]),
    ...(name === undefined
      ? [{ field: "name", rule: "must be given: the name of the lock, the same for all replicas" }]
      : []),
    ...checkLockOptions({ name: name ?? "given", namespace }),
  ];
}
