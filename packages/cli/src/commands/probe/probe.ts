/**
 * `tenure probe`: for exec probes. One question, one line of output, exit code 0 or 1. If the answer is unknown it is no,
 * because a guess could send traffic to a replica that does not lead.
 */
import { durationProblem, type Problem, parseDuration, quote } from "@tenure/base";
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

/** Everything that is wrong with the flags. */
export function probeProblems(flags: ProbeFlags): Problem[] {
  const questions = [flags.file, flags.url, flags.lease].filter((each) => each !== undefined).length;
  const { timeout = defaultTimeout, url, file, contains } = flags;
  return [
    ...(questions === 1
      ? []
      : [
          {
            field: "tenure probe",
            rule: "needs exactly one of {file}, {url} and {lease}",
            value: `given ${questions}`,
          },
        ]),
    ...(contains !== undefined && file === undefined ? [{ field: "contains", rule: "requires {file}" }] : []),
    ...(contains === ""
      ? [{ field: "contains", rule: "must not be empty", fix: "is its variable set?" }]
      : []),
    ...((parseDuration(timeout) ?? 0) > 0 ? [] : [durationProblem("timeout", timeout)]),
    ...(url === undefined || (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))
      ? []
      : [{ field: "url", rule: "must begin with http:// or https://", value: quote(url) }]),
  ];
}

/** Answers the questions that need no cluster. */
export async function probeHere(flags: ProbeFlags, { clock }: Platform): Promise<Answer> {
  if (flags.file !== undefined) {
    const { probeFile } = await import("./file.ts");
    return probeFile(flags.file, flags.contains, clock.now().wallMs);
  }
  if (flags.url === undefined) throw new CliError("Usage", "--file, --url or --lease is required");
  const { probeUrl } = await import("./url.ts");
  return probeUrl(new URL(flags.url), parseDuration(flags.timeout ?? defaultTimeout) as number, clock);
}

/** Prints the answer. Returns the exit code. */
export function printAnswer({ ok, line }: Answer, platform: Platform): number {
  platform.out(`${ok ? "ready" : "not ready"}: ${line}\n`);
  return ok ? 0 : 1;
}
