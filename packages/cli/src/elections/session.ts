/**
 * What every command of an operator begins and ends with: flags from all their sources, a connection, a clock of the server,
 * and errors of the cluster as one sentence.
 */
import { systemClock } from "@tenure/base";
import { type KubeClient, KubeError } from "@tenure/kube";
import type { Command } from "commander";
import { CliError } from "../errors.ts";
import type { Platform } from "../platform.ts";
import { type ConnectionFlags, connect, connectionProblems } from "../shared/connection.ts";
import { durationMs, refuse } from "../shared/problems.ts";
import { settle } from "../shared/settings.ts";
import type { Reader } from "./find.ts";
import { type LockKind, lockKinds } from "./lock-object.ts";
import type { OutputFormat } from "./output.ts";
import { type Paint, paintFor } from "./paint.ts";
import { ServerClock } from "./server-clock.ts";

export interface OperateFlags extends ConnectionFlags {
  output?: OutputFormat;
  lock?: LockKind;
}

export interface Session<Flags> extends Reader {
  readonly flags: Flags;
  readonly client: KubeClient;
  readonly server: string;
  readonly namespace: string;
  readonly platform: Platform;
  readonly paint: Paint;
  /** Milliseconds that never jump. */
  monotonicMs(): number;
  print(text: string): void;
}

export interface SessionOptions<Flags> {
  /** What was typed as the name of an election. */
  readonly name?: string | undefined;
  /** What else is wrong with the flags. */
  problems?(flags: Flags): string[];
}

/** Runs `work` with a connection that is closed when it ends. */
export async function inSession<Flags extends OperateFlags, T>(
  command: Command,
  platform: Platform,
  options: SessionOptions<Flags>,
  work: (session: Session<Flags>) => Promise<T>,
): Promise<T> {
  const settled = await settle<Flags>(command, platform);
  const { problems } = settled;
  const flags = { ...settled.flags };
  // In a pod of a candidate that moves from one kind to another TENURE_LOCK names both: then whichever is there is meant.
  if (flags.lock?.includes("+")) delete flags.lock;
  refuse(
    [
      ...problems,
      ...connectionProblems(flags),
      ...choiceProblems(flags),
      ...nameProblems("NAME", options.name),
      ...nameProblems("--namespace", flags.namespace),
      ...(options.problems?.(flags) ?? []),
    ],
    "do this",
  );
  const { client, namespace, config } = await connect(flags, platform);
  const serverClock = new ServerClock({ now: () => platform.wallMs() });
  try {
    return await work({
      flags,
      client,
      server: config.server,
      namespace,
      platform,
      paint: paintFor(platform),
      serverClock,
      localNowMs: () => platform.wallMs(),
      monotonicMs: () => systemClock.now().monoMs,
      print: (text) => platform.out(text),
    });
  } catch (error) {
    throw explained(error);
  } finally {
    client.close();
  }
}

/** A value from the environment or a file has not met the checks of the command line. */
function choiceProblems({ lock, output }: OperateFlags): string[] {
  const formats: readonly unknown[] = [undefined, "json", "yaml", "wide"];
  return [
    ...(lock === undefined || Object.hasOwn(lockKinds, lock)
      ? []
      : [`--lock must be ${Object.keys(lockKinds).join(", ")}: ${JSON.stringify(lock)}`]),
    ...(formats.includes(output) ? [] : [`--output must be json, yaml or wide: ${JSON.stringify(output)}`]),
  ];
}

/** What the cluster refused is told as it is: the sentences of @tenure/kube say the way out. */
export function explained(error: unknown): unknown {
  if (!(error instanceof KubeError)) return error;
  return new CliError("FAILED", error.message, { cause: error });
}

/** Names go into a URL, so what the API server would refuse is refused before it is asked. */
export function nameProblems(what: string, name: string | undefined): string[] {
  if (name === undefined || /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(name)) return [];
  return [
    `${what} must be lower case letters, digits, '-' and '.', at most 253 of them: ${JSON.stringify(name)}`,
  ];
}

export function durationProblems(flag: string, text: string | undefined): string[] {
  const problems: string[] = [];
  const ms = durationMs(flag, text, problems);
  return ms === 0 ? [`${flag} must be greater than zero: ${text}`] : problems;
}
