/**
 * `tenure probe --file` and `--url` without the command line's machinery: a kubelet asks every few seconds, on every pod, and
 * most of the time would go into reading flags. Whatever it does not understand at once it leaves to the usual way, which
 * explains what is wrong.
 */
import { parseArgs } from "node:util";
import type { Platform } from "../../platform.ts";
import { type ProbeFlags, probeHere, probeProblems, tell } from "./probe.ts";

const text = { type: "string" } as const;
const variables = ["FILE", "CONTAINS", "URL", "TIMEOUT", "LEASE"].map((flag) => `TENURE_${flag}`);

/** The exit code, or undefined if this is for the usual way. */
export async function probeFast(platform: Platform): Promise<number | undefined> {
  // Where a variable takes part, the usual way weighs it against the flags.
  if (variables.some((name) => platform.env(name))) return undefined;
  const flags = flagsIn(platform.args);
  if (flags === undefined || probeProblems(flags).length > 0) return undefined;
  return tell(await probeHere(flags, platform), platform);
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
