/** `tenure probe`: name, options and help. Most probes are answered by fast.ts, without loading this. */
import type { Command } from "commander";
import type { Platform } from "../../platform.ts";
import { addConnectionOptions } from "../../settings/connection-options.ts";
import { defaultTimeout, type ProbeFlags } from "./probe.ts";

export function declareProbe(program: Command, platform: Platform, end: (exitCode: number) => void): void {
  const command = program
    .command("probe")
    .description("For exec probes: exit with 0 if this replica is ready, else with 1")
    .option("--file <path>", "ready if this file exists and has not expired")
    .option("--contains <text>", "with --file: ready only if the file has this line")
    .option("--url <url>", "ready if a GET of this URL succeeds")
    .option("--timeout <duration>", `how long a URL may take (default: ${defaultTimeout})`)
    .option("--lease <name>", "ready if --id holds this Lease; asks the API server")
    .option("--id <identity>", "identity for --lease (default: $POD_NAME)");
  addConnectionOptions(command);
  command
    .addHelpText(
      "after",
      `
Exit codes: 0 ready; 1 not ready, or unknown; 2 wrong usage.

Examples, in a pod's readinessProbe:
  exec: { command: [tenure, probe, --file, /tmp/ready] }
  exec: { command: [sh, -c, 'tenure probe --file /etc/leader/leader --contains "$POD_NAME"'] }
  exec: { command: [tenure, probe, --url, http://127.0.0.1:8080/readyz] }`,
    )
    .action(async (_flags: object, at: Command) => {
      const [{ readSettings }, { rejectProblems }, { probeHere, probeProblems, printAnswer }] =
        await Promise.all([
          import("../../settings/settings.ts"),
          import("../../settings/problems.ts"),
          import("./probe.ts"),
        ]);
      const { flags, problems, nameOf } = await readSettings<ProbeFlags>(at, platform);
      const id = flags.id ?? platform.env("POD_NAME");
      const isNobody = flags.lease !== undefined && !id;
      const fix = "or set POD_NAME with the downward API (fieldRef metadata.name)";
      const missing = { field: "lease", rule: "requires {id}", fix };
      rejectProblems([...problems, ...probeProblems(flags), ...(isNobody ? [missing] : [])], {
        nameOf,
        cannot: "probe",
      });
      if (flags.lease === undefined) return end(printAnswer(await probeHere(flags, platform), platform));
      const name = flags.lease;
      const [{ inSession }, { probeLease }] = await Promise.all([
        import("../../cluster/session.ts"),
        import("./lease.ts"),
      ]);
      end(
        printAnswer(
          await inSession(at, platform, { name }, (opened) => probeLease(name, id as string, opened)),
          platform,
        ),
      );
    });
}
