/** `tenure doctor`: names, options and help. */
import { type Command, Option } from "commander";
import { outputOption } from "../../elections/output.ts";
import type { Platform } from "../../platform.ts";
import { addConnectionOptions } from "../../shared/connection.ts";
import type { DoctorFlags } from "./doctor.ts";

export function declareDoctor(program: Command, platform: Platform, end: (exitCode: number) => void): void {
  const command = program
    .command("doctor")
    .description("Find what is wrong with an election, or all of a namespace, and how to put it right")
    .argument("[name]", "of the election (default: all of the namespace)")
    .option("--as <user>", "whose rights to check, such as system:serviceaccount:prod:billing")
    .addOption(new Option("--preset <name>", "hold the API server's latency against this preset"))
    .addOption(new Option("--renew-deadline <duration>", "or against this renewDeadline"))
    .addOption(outputOption(["json", "yaml"]));
  addConnectionOptions(command);
  command
    .addHelpText(
      "after",
      `
It looks at credentials, namespace, rights, clocks, latency, watch, the lock and its orders, the holder's pod, identities, and
the manifests of the workload that takes part. It only reads. What it may not read it skips, and says so.

Exit codes: 0 nothing wrong (hints do not count); 1 there are findings; 2 wrong usage.

Examples:
  tenure doctor billing -n prod
  tenure doctor billing -n prod --as system:serviceaccount:prod:billing
  tenure doctor -n prod -o json | jq '.checks[] | select(.verdict == "finding")'`,
    )
    .action(async (name: string | undefined, _flags: object, at: Command) => {
      const [{ inSession }, { doctor, doctorProblems: problems }] = await Promise.all([
        import("../../elections/session.ts"),
        import("./doctor.ts"),
      ]);
      end(
        await inSession<DoctorFlags, number>(at, platform, { name, problems }, (opened) =>
          doctor(name, opened),
        ),
      );
    });
}
