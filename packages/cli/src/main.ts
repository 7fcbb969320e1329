#!/usr/bin/env node
import { systemPlatform } from "./platform.ts";

/** A probe starts every few seconds on every pod: it does not load what reads the flags of all commands. */
async function quickly(): Promise<number | undefined> {
  if (systemPlatform.args[0] !== "probe") return undefined;
  const { probeFast } = await import("./commands/probe/fast.ts");
  return probeFast(systemPlatform);
}

const exitCode = (await quickly()) ?? (await (await import("./run.ts")).run(systemPlatform));
systemPlatform.exit(exitCode);
