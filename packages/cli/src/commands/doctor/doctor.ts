/**
 * `tenure doctor`: checks everything that an election depends on, and reports each problem with its fix. It changes nothing.
 * It reports what it may not read as skipped, and does not guess.
 */
import { oneOfProblem, type Problem } from "@tenure/base";
import { presets } from "@tenure/core";
import { durationProblems, type Session } from "../../cluster/session.ts";
import { serialize } from "../../display/output.ts";
import type { DoctorFlags } from "./doctor-flags.ts";
import { adviceIn, examine } from "./examine.ts";
import { printReport, type Report, summary } from "./report.ts";

export function doctorProblems({ preset, renewDeadline }: DoctorFlags): Problem[] {
  return [
    ...durationProblems("renewDeadline", renewDeadline),
    ...(preset === undefined || Object.hasOwn(presets, preset)
      ? []
      : [oneOfProblem("preset", Object.keys(presets), preset)]),
  ];
}

/** @returns the exit code: 1 if there is a finding */
export async function doctor(name: string | undefined, session: Session<DoctorFlags>): Promise<number> {
  const { flags, paint } = session;
  const isPlainText = flags.output === undefined;
  const reports: Report[] = [];
  await examine(name, session, (report) => {
    reports.push(report);
    if (isPlainText) session.print(printReport(report, paint));
  });
  const findings = reports.filter(({ verdict }) => verdict === "finding").length;
  if (flags.output === "json" || flags.output === "yaml") {
    session.print(await serialize(flags.output, { ok: findings === 0, findings, checks: reports }));
  } else session.print(`\n${summary(reports, adviceIn(session).where)}`);
  return findings === 0 ? 0 : 1;
}
