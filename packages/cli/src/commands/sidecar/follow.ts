/** The manual way: a person names the pod that is to be reached, and this one says by its ready file whether it is it. */
import {
  type FollowOptions,
  followConfigMap,
  followFile,
  type ReadyFile,
  readyFile,
  TrafficError,
} from "@tenure/traffic";
import { CliError } from "../../errors.ts";
import type { Platform } from "../../platform.ts";
import { connect } from "../../shared/connection.ts";
import { identityFrom } from "../../shared/election-from.ts";
import type { Log } from "../../shared/log.ts";
import type { SidecarFlags } from "./declare.ts";

export function followProblems(flags: SidecarFlags, platform: Platform): string[] {
  const problems: string[] = [];
  const how = flags.followFile === undefined ? "--follow-configmap" : "--follow-file";
  if (flags.followFile !== undefined && flags.followConfigmap !== undefined)
    problems.push("--follow-file and --follow-configmap exclude each other: leave one of them out");
  if (flags.readyFile === undefined)
    problems.push(`${how} needs --ready-file, the file that is there while this pod is named`);
  if (identityFrom(flags, platform) === undefined)
    problems.push(
      `${how} needs to know this pod: set POD_NAME by the downward API (metadata.name), or pass --id`,
    );
  const { leaseLockName, election, label, service, leaderConfigmap, status, http } = flags;
  for (const [flag, value] of Object.entries({
    "--lease-lock-name": leaseLockName,
    "--election": election,
    "--label": label,
    "--service": service,
    "--leader-configmap": leaderConfigmap,
    "--status": status,
    "--http": http,
  })) {
    if (value !== undefined) problems.push(`${flag} is for an election, and with ${how} there is none`);
  }
  return problems;
}

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
      log.info(`${pod}: ${leader ?? "nobody"} is named${isNamed ? ", which is this pod" : ""}`, {
        event: "named",
        identity: pod,
        leader: leader ?? null,
        isNamed,
      }),
  };
  if (flags.followFile !== undefined) return followFile({ ...options, path: flags.followFile });
  const connection = await connect(flags, platform, { signal, onWait: (message) => log.warn(message) });
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
    throw error instanceof TrafficError ? new CliError("FAILED", error.message, { cause: error }) : error;
  }
}
