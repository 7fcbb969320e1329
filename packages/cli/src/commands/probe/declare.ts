/** `tenure probe`: names, options and help. What most probes ask is answered before this is loaded: see fast.ts. */
import type { Command } from "commander";
import type { Platform } from "../../platform.ts";
import { addConnectionOptions } from "../../shared/connection.ts";
import type { ProbeFlags } from "./probe.ts";

export function declareProbe(program: Command, platform: Platform, end: (exitCode: number) => void): void {
  const command = program
    .command("probe")
    .description("For exec probes: exits with 0 if this replica is the one, else with 1")
    .option("--file <path>", "is this file there, and not past its time")
    .option("--contains <text>", "and has it a line that is this text")
    .option("--url <url>", "does this answer with success")
    .option("--timeout <duration>", "how long a URL may take (default: 1s)")
    .option("--lease <name>", "does --id hold this Lease; asks the API server")
    .option("--id <identity>", "(default: $POD_NAME)");
  addConnectionOptions(command);
  command
    .addHelpText(
      "after",
      `
Exit codes: 0 yes; 1 no, or it cannot be found out; 2 wrong usage.

Examples, in a pod's readinessProbe:
  exec: { command: [tenure, probe, --file, /tmp/ready] }
  exec: { command: [sh, -c, 'tenure probe --file /etc/leader/leader --contains "$POD_NAME"'] }
  exec: { command: [tenure, probe, --url, http://127.0.0.1:8080/readyz] }`,
    )
    .action(async (_flags: object, at: Command) => {
      const [{ settle }, { refuse }, { probeHere, probeProblems, tell }] = await Promise.all([
        import("../../shared/settings.ts"),
        import("../../shared/problems.ts"),
        import("./probe.ts"),
      ]);
      const { flags, problems } = await settle<ProbeFlags>(at, platform);
      const id = flags.id ?? platform.env("POD_NAME");
      const isNobody = flags.lease !== undefined && !id;
      refuse(
        [
          ...problems,
          ...probeProblems(flags),
          ...(isNobody
            ? ["--lease needs --id, or POD_NAME by the downward API (fieldRef metadata.name)"]
            : []),
        ],
        "probe",
      );
      if (flags.lease === undefined) return end(tell(await probeHere(flags, platform), platform));
      const name = flags.lease;
      const [{ inSession }, { probeLease }] = await Promise.all([
        import("../../elections/session.ts"),
        import("./lease.ts"),
      ]);
      end(
        tell(
          await inSession(at, platform, { name }, (opened) => probeLease(name, id as string, opened)),
          platform,
        ),
      );
    });
}
