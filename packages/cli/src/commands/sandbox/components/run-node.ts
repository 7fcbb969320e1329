/** Runs a node until a signal stops it. */
import { startNode } from "@tenure/cluster";
import type { Command } from "commander";
import { untilShutdown } from "../../../candidate/shutdown.ts";
import { connect } from "../../../cluster/connect.ts";
import { type Log, logProblems, openLog } from "../../../log/log.ts";
import type { Platform } from "../../../platform.ts";
import { rejectProblems } from "../../../settings/problems.ts";
import { readSettings } from "../../../settings/settings.ts";
import type { NodeFlags } from "./declare-node.ts";
import { imageProblems, parseImages } from "./images.ts";

export async function runNode(command: Command, platform: Platform): Promise<void> {
  const { flags, problems, nameOf } = await readSettings<NodeFlags>(command, platform);
  rejectProblems([...problems, ...imageProblems(flags.image), ...logProblems(flags)], { nameOf });
  await untilShutdown(platform, async (signal) => {
    const log = await openLog(flags, platform, 1);
    try {
      await run(flags, platform, signal, log);
    } finally {
      await log.close();
    }
  });
}

async function run(flags: NodeFlags, platform: Platform, signal: AbortSignal, log: Log): Promise<void> {
  const { client } = await connect(flags, platform, {
    signal,
    onWait: (message) => log.warn(message, { event: "waiting" }),
  });
  const name = (flags.name ?? platform.hostName()).toLowerCase();
  const node = await startNode({
    client,
    name,
    images: parseImages(flags.image),
    isolation: flags.isolation,
    dataDirectory: flags.dataDir,
    services: flags.services,
    signal,
    onError: (error) => log.warn(error instanceof Error ? error.message : String(error), { event: "error" }),
  });
  try {
    await node.ready;
    log.info(`${name}: runs pods. ${node.isolation.shared}`, { event: "ready", node: name });
    await node.stopped;
  } finally {
    await node.stop();
    client.close();
  }
  log.info(`${name}: stopped, and so are its pods`, { event: "stopped", node: name });
}
