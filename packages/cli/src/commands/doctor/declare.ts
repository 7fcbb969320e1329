/** `tenure doctor`: name, options and help. */
import { type Command, Option } from "commander";
import { outputOption } from "../../display/output.ts";
import type { Platform } from "../../platform.ts";
import { addConnectionOptions } from "../../settings/connection-options.ts";
import type { DoctorFlags } from "./doctor-flags.ts";

export function declareDoctor(program: Command, platform: Platform, end: (exitCode: number) => void): void {
  const command = program
    .command("doctor")
    .description("Find problems of an election, or of all elections in a namespace, and how to fix them")
    .argument("[name]", "name of the election (default: all of the namespace)")
    .option("--as <user>", "user whose rights to check, for example system:serviceaccount:prod:billing")
    .addOption(
      new Option(
        "--preset <name>",
        "compare the API server's latency with the renew deadline of this preset",
      ),
    )
    .addOption(
      new Option("--renew-deadline <duration>", "compare the API server's latency with this renew deadline"),
    )
    .addOption(
      new Option("--lock <url>", "examine the election in this store: postgres://…, etcd://… or etcds://…"),
    )
    .addOption(outputOption(["json", "yaml"]));
  addConnectionOptions(command);
  command
    .addHelpText(
      "after",
      `
It checks credentials, namespace, rights, clocks, latency, the watch, the lock and its orders, the holder's pod, identities, and
the manifests of the workloads that take part, also of those on client-go. It changes nothing. It skips what it may not read, and
reports that. Under each finding, "run:" is a command that fixes it.

Exit codes: 0 no findings (hints do not count); 1 findings; 2 wrong usage.

Examples:
  tenure doctor billing -n prod
  tenure doctor billing -n prod --as system:serviceaccount:prod:billing
  tenure doctor -n prod -o json | jq '.checks[] | select(.verdict == "finding")'`,
    )
    .action(async (name: string | undefined, _flags: object, at: Command) => {
      const [{ inSession }, { doctor, doctorProblems: problems }] = await Promise.all([
        import("../../cluster/session.ts"),
        import("./doctor.ts"),
      ]);
      end(
        await inSession<DoctorFlags, number>(at, platform, { name, problems }, (opened) =>
          doctor(name, opened),
        ),
      );
    });
}
