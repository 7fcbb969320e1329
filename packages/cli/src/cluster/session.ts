/** What every command of an operator needs: its flags from all sources, a connection, the server's clock, and colours. */
import { type Problem, readDuration } from "@tenure/base";
import type { OperableLock } from "@tenure/election/internal";
import { KubeError } from "@tenure/kube";
import { nameProblem } from "@tenure/kube/internal";
import type { Command } from "commander";
import { outputProblem } from "../display/output.ts";
import { type Paint, paintFor } from "../display/paint.ts";
import type { LockClient, Reader } from "../elections/find.ts";
import { type LockKind, lockKinds } from "../elections/lock-object.ts";
import { ServerClock } from "../elections/server-clock.ts";
import { CliError } from "../errors.ts";
import type { Platform } from "../platform.ts";
import { type ConnectionFlags, connectionProblems } from "../settings/connection-options.ts";
import { rejectProblems } from "../settings/problems.ts";
import { readSettings } from "../settings/settings.ts";
import { isLockUrl, type LockUrlFlags, lockUrlProblems, unknownLockProblem } from "../stores/lock-url.ts";
import { connect } from "./connect.ts";

export interface OperateFlags extends ConnectionFlags {
  /** Checked by `outputOption`, and for values from the environment by `inSession`. */
  output?: string;
  lock?: LockKind;
}

export interface Session<Flags> extends Reader {
  readonly flags: Flags;
  /** The address of the API server or of the store. */
  readonly server: string;
  /** The namespace in Kubernetes, or the kind of the store. */
  readonly namespace: string;
  /** Opens a lock of the store; undefined if the locks are in Kubernetes. */
  readonly openLock?: (name: string) => Promise<OperableLock>;
  /** The URL of the store if it was given as a flag, so that other commands need it too. */
  readonly lockUrl?: string;
  readonly platform: Platform;
  readonly paint: Paint;
  /** Milliseconds of a clock that never jumps. */
  monotonicMs(): number;
  print(text: string): void;
}

export interface SessionOptions<Flags> {
  /** The name of the election, as typed. */
  readonly name?: string | undefined;
  /** Further checks of the flags. */
  problems?(flags: Flags): Problem[];
}

/** Runs `work` with a connection, and closes the connection afterwards. */
export async function inSession<Flags extends OperateFlags, T>(
  command: Command,
  platform: Platform,
  options: SessionOptions<Flags>,
  work: (session: Session<Flags>) => Promise<T>,
): Promise<T> {
  const settings = await readSettings<Flags>(command, platform);
  const flags = { ...settings.flags };
  const storeFlags: LockUrlFlags = isLockUrl(flags.lock) ? { ...flags } : {};
  // A store has one kind of lock. In the pod of a candidate that migrates, TENURE_LOCK names two; then either is meant.
  if (storeFlags.lock !== undefined) flags.lock = "lease";
  else if (flags.lock?.includes("+")) delete flags.lock;
  rejectProblems(
    [
      ...settings.problems,
      ...connectionProblems(flags),
      ...choiceProblems(flags),
      ...lockUrlProblems(storeFlags, settings.nameOf),
      ...nameProblems("NAME", options.name),
      ...nameProblems("namespace", flags.namespace),
      ...(options.problems?.(flags) ?? []),
    ],
    { nameOf: settings.nameOf, cannot: `run tenure ${command.name()}` },
  );
  const place = await (storeFlags.lock === undefined
    ? openCluster(flags, platform)
    : openStore(storeFlags, platform));
  const { clock } = platform;
  try {
    return await work({
      flags,
      ...place,
      ...(storeFlags.lock !== undefined &&
        settings.nameOf("lock") === "--lock" && { lockUrl: storeFlags.lock }),
      platform,
      paint: paintFor(platform),
      serverClock: new ServerClock(() => clock.now().wallMs),
      monotonicMs: () => clock.now().monoMs,
      print: (text) => platform.out(text),
    });
  } catch (error) {
    // The messages of @tenure/kube already say what to do.
    throw error instanceof KubeError ? new CliError("Failed", error.message, { cause: error }) : error;
  } finally {
    place.close();
  }
}

type Place = Pick<Session<unknown>, "server" | "namespace" | "store" | "openLock"> & {
  readonly client: LockClient;
  close(): void;
};

async function openCluster(flags: OperateFlags, platform: Platform): Promise<Place> {
  const { client, namespace, config } = await connect(flags, platform);
  return { client, namespace, server: config.server, close: () => client.close() };
}

async function openStore(flags: LockUrlFlags, platform: Platform): Promise<Place> {
  const [{ openStoreLock }, { StoreClient }] = await Promise.all([
    import("../stores/open-store.ts"),
    import("../stores/store-client.ts"),
  ]);
  const locks = new Map<string, Promise<OperableLock>>();
  const openLock = (name: string) => {
    const lock = locks.get(name) ?? openStoreLock(flags, name, platform);
    locks.set(name, lock);
    return lock;
  };
  // Reports a wrong URL before anything else.
  const store = (await (await openLock("any")).serverAddress?.()) ?? "";
  const namespace = /^postgres/i.test(flags.lock ?? "") ? "postgres" : "etcd";
  const client = new StoreClient({ open: openLock, namespace, clock: platform.clock });
  // An idle connection does not keep the process alive.
  return { client, namespace, server: store, store, openLock, close() {} };
}

/** commander checks only values from the command line, not those from the environment. */
function choiceProblems({ lock, output }: OperateFlags): Problem[] {
  const kinds = Object.keys(lockKinds);
  const format = outputProblem(output);
  return [
    ...(lock === undefined || kinds.includes(lock) ? [] : [unknownLockProblem(lock, kinds)]),
    ...(format === undefined ? [] : [format]),
  ];
}

function nameProblems(field: string, name: string | undefined): Problem[] {
  const problem = name === undefined ? undefined : nameProblem(field, name);
  return problem ? [problem] : [];
}

/** The problems of a duration that must be greater than zero, if it is given. */
export function durationProblems(field: string, text: string | undefined): Problem[] {
  const problems: Problem[] = [];
  if (text !== undefined) readDuration(field, text, problems);
  return problems;
}
