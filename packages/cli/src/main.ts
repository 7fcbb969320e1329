#!/usr/bin/env node
import { systemPlatform } from "./platform.ts";

/** Kubelets start a probe every few seconds on every pod, so a probe does not load the declarations of all commands. */
async function runProbe(): Promise<number | undefined> {
  if (systemPlatform.args[0] !== "probe") return undefined;
  const { probeFast } = await import("./commands/probe/fast.ts");
  return probeFast(systemPlatform);
}

const exitCode =
  (await runProbe()) ?? (await (await import("./command-line.ts")).runCommandLine(systemPlatform));
systemPlatform.exit(exitCode);
