/** Manual routing: a person names the pod that receives traffic, and this pod keeps its ready file while it is named. */
import type { Problem } from "@tenure/base";
import {
  type FollowOptions,
  followConfigMap,
  followFile,
  type ReadyFile,
  readyFile,
  TrafficError,
} from "@tenure/traffic";
import { identityFrom } from "../../candidate/create-election.ts";
import { connect } from "../../cluster/connect.ts";
import { CliError } from "../../errors.ts";
import type { Log } from "../../log/log.ts";
import type { Platform } from "../../platform.ts";
import { exclusive } from "../../settings/problems.ts";
import type { SidecarFlags } from "./declare.ts";

export function followProblems(flags: SidecarFlags, platform: Platform): Problem[] {
  const problems: Problem[] = [];
  const field = flags.followFile === undefined ? "followConfigmap" : "followFile";
  if (flags.followFile !== undefined && flags.followConfigmap !== undefined)
    problems.push(exclusive("followFile", "followConfigmap"));
  if (flags.readyFile === undefined) problems.push({ field, rule: "requires {readyFile}" });
  if (identityFrom(flags, platform) === undefined) {
    const fix = "set POD_NAME with the downward API (fieldRef metadata.name), or pass {id}";
    problems.push({ field, rule: "requires the name of this pod", fix });
  }
  for (const other of electionOnly) {
    if (flags[other] !== undefined)
      problems.push({ field: other, rule: `has no effect with {${field}}, because there is no election` });
  }
  return problems;
}

/** Flags that have no meaning without an election. */
const electionOnly = [
  "leaseLockName",
  "election",
  "label",
  "service",
  "leaderConfigmap",
  "status",
  "http",
] as const;

export async function follow(
  flags: SidecarFlags,
  platform: Platform,
  signal: AbortSignal,
  log: Log,
): Promise<void> {
  const pod = identityFrom(flags, platform) ?? "";
  const onError = (error: Error) => log.warn(`${pod}: ${error.message}`, { event: "error", identity: pod });
  const file = await openReadyFile(flags, onError);
  const options: FollowOptions = {
    pod,
    signal,
    onError,
    readyFile: file,
    onChange: ({ leader, isNamed }) =>
      log.info(`${pod}: ${leader ?? "no pod"} is named${isNamed ? ", which is this pod" : ""}`, {
        event: "named",
        identity: pod,
        leader: leader ?? null,
        isNamed,
      }),
  };
  if (flags.followFile !== undefined) return followFile({ ...options, path: flags.followFile });
  const connection = await connect(flags, platform, {
    signal,
    onWait: (message) => log.warn(message, { event: "waiting" }),
  });
  const [name = "", key] = (flags.followConfigmap ?? "").split("/", 2);
  try {
    const { client } = connection;
    const namespace = platform.env("POD_NAMESPACE") || platform.env("NAMESPACE") || connection.namespace;
    await followConfigMap({ ...options, client, namespace, name, ...(key !== undefined && { key }) });
  } finally {
    connection.client.close();
  }
}

async function openReadyFile(
  { readyFile: path }: SidecarFlags,
  onError: (error: Error) => void,
): Promise<ReadyFile> {
  try {
    const file = readyFile({ onError, ...(path !== undefined && { path }) });
    await file.prepare();
    return file;
  } catch (error) {
    throw error instanceof TrafficError ? new CliError("Failed", error.message, { cause: error }) : error;
  }
}
