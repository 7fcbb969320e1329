/** What every command of an operator needs: its flags from all sources, a connection, the server's clock, and colours. */
import { oneOfProblem, type Problem, readDuration } from "@tenure/base";
import { type KubeClient, KubeError } from "@tenure/kube";
import { nameProblem } from "@tenure/kube/internal";
import type { Command } from "commander";
import type { OutputFormat } from "../display/output.ts";
import { type Paint, paintFor } from "../display/paint.ts";
import type { Reader } from "../elections/find.ts";
import { type LockKind, lockKinds } from "../elections/lock-object.ts";
import { ServerClock } from "../elections/server-clock.ts";
import { CliError } from "../errors.ts";
import type { Platform } from "../platform.ts";
import { type ConnectionFlags, connectionProblems } from "../settings/connection-options.ts";
import { rejectProblems } from "../settings/problems.ts";
import { readSettings } from "../settings/settings.ts";
import { connect } from "./connect.ts";

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
  // In the pod of a candidate that migrates, TENURE_LOCK names two kinds. Then either lock is meant.
  if (flags.lock?.includes("+")) delete flags.lock;
  rejectProblems(
    [
      ...settings.problems,
      ...connectionProblems(flags),
      ...choiceProblems(flags),
      ...nameProblems("NAME", options.name),
      ...nameProblems("namespace", flags.namespace),
      ...(options.problems?.(flags) ?? []),
    ],
    { nameOf: settings.nameOf, cannot: `run tenure ${command.name()}` },
  );
  const { client, namespace, config } = await connect(flags, platform);
  const { clock } = platform;
  try {
    return await work({
      flags,
      client,
      server: config.server,
      namespace,
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
    client.close();
  }
}

/** commander checks only values from the command line, not those from the environment. */
function choiceProblems({ lock, output }: OperateFlags): Problem[] {
  const kinds = Object.keys(lockKinds);
  const formats = ["json", "yaml", "wide"];
  return [
    ...(lock === undefined || kinds.includes(lock) ? [] : [oneOfProblem("lock", kinds, lock)]),
    ...(output === undefined || formats.includes(output) ? [] : [oneOfProblem("output", formats, output)]),
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
