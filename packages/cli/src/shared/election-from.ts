/** The election that the flags describe. All that is wrong with them is named at once, in the words of the command line. */
import { checkIdentity, resolveTimings, type TimingOptions } from "@tenure/core";
import {
  ConfigMapLock,
  CoreError,
  Election,
  ElectionError,
  type ElectionOptions,
  EndpointsLock,
  LeaseLock,
  type Lock,
  MigrationLock,
} from "@tenure/election";
import type { KubeClient } from "@tenure/kube";
import type { Platform } from "../platform.ts";
import { newClient } from "./connect.ts";
import type { Connection } from "./connection.ts";
import { type ElectionFlags, lockKinds } from "./election-options.ts";
import { durationMs, inFlagWords, nearest } from "./problems.ts";

const flagWords = {
  leaseDuration: "--lease-duration",
  renewDeadline: "--renew-deadline",
  retryPeriod: "--retry-period",
  renewInterval: "--renew-interval",
  preset: "--preset",
  "identity must": "--id must",
  "pass identity": "pass --id",
  "its namespace": "--lease-lock-namespace",
  "its name": "--lease-lock-name",
};

/** Everything that is wrong with the flags of an election, a sentence each. */
export function electionProblems(
  flags: ElectionFlags & { readonly namespace?: string },
  platform: Platform,
): string[] {
  const problems = [
    ...coreProblems(() => resolveTimings(timingsFrom(flags))),
    ...coreProblems(() => checkIdentity(identityFrom(flags, platform))),
    ...lockProblems(flags),
  ];
  durationMs("--cooldown", flags.cooldown, problems);
  durationMs("--log-leader-every", flags.logLeaderEvery, problems);
  return problems.map((problem) => inFlagWords(problem, flagWords));
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

function lockProblems(flags: ElectionFlags & { readonly namespace?: string }): string[] {
  const problems: string[] = [];
  const { lock = "lease", leaseLockName, namespace = "default" } = flags;
  if (!(lockKinds as readonly string[]).includes(lock)) {
    const meant = nearest(lock, lockKinds);
    problems.push(
      `--lock must be one of ${lockKinds.join(", ")}: ${JSON.stringify(lock)}${meant ? `; did you mean ${meant}?` : ""}`,
    );
  }
  if (leaseLockName === undefined) {
    problems.push("--lease-lock-name must be given: the name of the lock, the same for all replicas");
  }
  try {
    // Only to have the names checked: it is never asked for anything.
    new LeaseLock({ name: leaseLockName ?? "given", namespace, client: {} as KubeClient });
  } catch (error) {
    if (!(error instanceof ElectionError)) throw error;
    problems.push(error.message.replace(/^Cannot use the Lease as a lock: (.*)\.$/, "$1"));
  }
  return problems;
}

function coreProblems(check: () => unknown): readonly string[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof CoreError) return error.problems;
    throw error;
  }
}
