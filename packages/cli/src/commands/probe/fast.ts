/**
 * `tenure probe --file` and `--url` without commander. Kubelets run probes every few seconds on every pod, and most of the time
 * would go into loading the declarations of all commands. A command line that this code does not understand is left to
 * command-line.ts, which explains what is wrong.
 */
import { parseArgs } from "node:util";
import type { Platform } from "../../platform.ts";
import { type ProbeFlags, printAnswer, probeHere, probeProblems } from "./probe.ts";

const text = { type: "string" } as const;
const variables = ["FILE", "CONTAINS", "URL", "TIMEOUT", "LEASE"].map((flag) => `TENURE_${flag}`);

/** The exit code, or undefined if command-line.ts must handle this. */
export async function probeFast(platform: Platform): Promise<number | undefined> {
  // Only command-line.ts reads settings from the environment.
  if (variables.some((name) => platform.env(name))) return undefined;
  const flags = flagsIn(platform.args);
  if (flags === undefined || probeProblems(flags).length > 0) return undefined;
  return printAnswer(await probeHere(flags, platform), platform);
}

function flagsIn(args: readonly string[]): ProbeFlags | undefined {
  if (args[0] !== "probe") return undefined;
  try {
    const options = { file: text, contains: text, url: text, timeout: text };
    return parseArgs({ args: args.slice(1), options, allowPositionals: false }).values;
  } catch {
    return undefined;
  }
}
