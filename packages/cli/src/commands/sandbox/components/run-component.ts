/** Runs the controllers or the scheduler until a signal stops them. */
import { systemRandom } from "@tenure/base";
import { type ElectedOptions, runControllers, runScheduler } from "@tenure/cluster";
import { checkIdentity, checkTimings, uniqueIdentity } from "@tenure/core";
import type { Command } from "commander";
import { timingsFrom } from "../../../candidate/create-election.ts";
import { untilShutdown } from "../../../candidate/shutdown.ts";
import { connect, newClient } from "../../../cluster/connect.ts";
import { type Log, logProblems, openLog } from "../../../log/log.ts";
import type { Platform } from "../../../platform.ts";
import { rejectProblems } from "../../../settings/problems.ts";
import { readSettings } from "../../../settings/settings.ts";
import type { ComponentFlags, ComponentName } from "./declare.ts";

export async function runComponent(name: ComponentName, command: Command, platform: Platform): Promise<void> {
  const { flags, problems, nameOf } = await readSettings<ComponentFlags>(command, platform);
  const identity = flags.id ?? uniqueIdentity(platform.hostName(), systemRandom());
  problems.push(...checkTimings(timingsFrom(flags)).problems, ...checkIdentity(identity).problems);
  problems.push(...logProblems(flags));
  rejectProblems(problems, { nameOf });
  await untilShutdown(platform, async (signal) => {
    const log = await openLog(flags, platform, 1);
    try {
      await run(name, flags, platform, { identity, signal, log });
    } finally {
      await log.close();
    }
  });
}

async function run(
  name: ComponentName,
  flags: ComponentFlags,
  platform: Platform,
  { identity, signal, log }: { identity: string; signal: AbortSignal; log: Log },
): Promise<void> {
  const { config, client } = await connect(flags, platform, {
    signal,
    onWait: (message) => log.warn(message, { event: "waiting" }),
  });
  const lockClient = newClient(config, platform, "tenure leader-election");
  const options: ElectedOptions = {
    client,
    lockClient,
    identity,
    signal,
    timings: timingsFrom(flags),
    onError: (error) => log.warn(error.message, { event: "error" }),
    onLeading: (isLeading) =>
      isLeading
        ? log.info(`${identity}: runs the ${name}`, { event: "leading", identity })
        : log.info(`${identity}: no longer runs the ${name}`, { event: "standby", identity }),
  };
  log.info(`${identity}: waits to run the ${name}`, { event: "started", identity });
  try {
    if (name === "scheduler") await runScheduler(options);
    else await runControllers({ ...options, rootCa: config.ca });
  } finally {
    client.close();
    lockClient.close();
  }
  log.info(`${identity}: stopped`, { event: "stopped", identity });
}
