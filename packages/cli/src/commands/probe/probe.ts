/**
 * `tenure probe`: for exec probes. One question, one line, exit code 0 or 1. Anything that it cannot find out is a no: a probe
 * that guesses would send traffic to a replica that does not lead.
 */
import { CliError } from "../../errors.ts";
import type { Platform } from "../../platform.ts";

export interface ProbeFlags {
  file?: string | undefined;
  contains?: string | undefined;
  url?: string | undefined;
  timeout?: string | undefined;
  lease?: string | undefined;
  id?: string | undefined;
}

export interface Answer {
  readonly ok: boolean;
  readonly line: string;
}

export const defaultTimeout = "1s";

/** What is wrong with the flags, all of it. */
export function probeProblems(flags: ProbeFlags): string[] {
  const ways = [flags.file, flags.url, flags.lease].filter((way) => way !== undefined);
  const { timeout = defaultTimeout, url, file, contains } = flags;
  return [
    ...(ways.length === 1 ? [] : [`say one of --file, --url and --lease: ${ways.length} were given`]),
    ...(contains !== undefined && file === undefined ? ["--contains means nothing without --file"] : []),
    ...(contains === "" ? ["--contains must not be empty: is the variable set that it comes from?"] : []),
    ...(timeoutMsOf(timeout) === undefined
      ? [`--timeout must be a duration such as 1s or 500ms: ${JSON.stringify(timeout)}`]
      : []),
    ...(url === undefined || (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))
      ? []
      : [`--url must begin with http:// or https://: ${JSON.stringify(url)}`]),
  ];
}

/** For questions that need no cluster. */
export async function probeHere(flags: ProbeFlags, platform: Platform): Promise<Answer> {
  if (flags.file !== undefined) {
    const { probeFile } = await import("./file.ts");
    return probeFile(flags.file, flags.contains, platform.wallMs());
  }
  if (flags.url === undefined) throw new CliError("USAGE", "say one of --file, --url and --lease");
  const { probeUrl } = await import("./url.ts");
  const timeoutMs = timeoutMsOf(flags.timeout ?? defaultTimeout) as number;
  return probeUrl(new URL(flags.url), { timeoutMs, after: (ms, callback) => platform.after(ms, callback) });
}

export function tell({ ok, line }: Answer, platform: Platform): number {
  platform.out(`${ok ? "ready" : "not ready"}: ${line}\n`);
  return ok ? 0 : 1;
}

/** One number and its unit: a probe needs no more, and loading what reads more takes longer than asking. */
export function timeoutMsOf(text: string): number | undefined {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text) ?? [];
  const ms = Number(amount) * (unit === "ms" ? 1 : unit === "s" ? 1_000 : 60_000);
  return ms > 0 ? ms : undefined;
}
