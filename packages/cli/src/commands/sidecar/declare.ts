/** `tenure sidecar`: name, options and help. Its action loads the modules that do the work. */
import { type Command, Option } from "commander";
import { addLogOptions, type LogFlags } from "../../log/log.ts";
import type { Platform } from "../../platform.ts";
import { addConnectionOptions, type ConnectionFlags } from "../../settings/connection-options.ts";
import { addElectionOptions, type ElectionFlags } from "../../settings/election-options.ts";
import { addConfigOption, exitCodesHelp, settingsHelp } from "../../settings/settings.ts";
import { addTrafficOptions, type TrafficFlags } from "../../settings/traffic-options.ts";

export interface SidecarFlags extends ConnectionFlags, ElectionFlags, LogFlags, TrafficFlags {
  handoverDelay: string;
  followFile?: string;
  followConfigmap?: string;
  election?: string;
  electionNamespace?: string;
  http?: string;
  ttl?: string;
}

/** The address of the old leader-elector sidecar, restricted to the pod. */
export const defaultStatus = "127.0.0.1:4040";

export function declareSidecar(program: Command, platform: Platform): void {
  const command = program
    .command("sidecar")
    .description("Take part in an election for an application, which asks over HTTP whether it leads");
  addElectionOptions(command);
  command.addOption(
    new Option(
      "--handover-delay <duration>",
      "how long the application has to stop, after it is told to and before another replica may lead",
    )
      .default("2s")
      .helpGroup("Election:"),
  );
  addTrafficOptions(command);
  addConnectionOptions(command, "elect");
  addLogOptions(command);
  addConfigOption(command);
  command
    .addOption(
      new Option(
        "--follow-file <path>",
        "no election: keep --ready-file while this file names this pod",
      ).helpGroup("Manual routing:"),
    )
    .addOption(
      new Option(
        "--follow-configmap <name>",
        "the same for the key leader of a ConfigMap; name/key for another key",
      ).helpGroup("Manual routing:"),
    )
    .addOption(new Option("--election <name>", "old name of --lease-lock-name").hideHelp())
    .addOption(
      new Option("--election-namespace <namespace>", "old name of --lease-lock-namespace").hideHelp(),
    )
    .addOption(new Option("--http <address>", "old name of --status").hideHelp())
    .addOption(
      new Option(
        "--ttl <duration>",
        "old name of --lease-duration; the renew deadline is half of it, the retry period a quarter",
      ).hideHelp(),
    )
    .addOption(new Option("--use-cluster-credentials", "no effect: in a pod this is the default").hideHelp())
    .addHelpText(
      "after",
      `
The application asks from within the pod (the default of --status is ${defaultStatus}):
  GET /leader   {"name":"pod-1","isLeader":true,"token":"4711","leaseSecondsLeft":12.9,…}
  GET /events   the same, sent at every change (server-sent events)
It may work while isLeader is true, for at most leaseSecondsLeft after it last received that. It must fence its writes with
the token. A sidecar cannot stop an application that does not listen; tenure run can.

Examples:
  tenure sidecar --lease-lock-name billing
  tenure sidecar --lease-lock-name billing --status :8080 --label   # only the leader gets traffic
  tenure sidecar --election=billing --http=0.0.0.0:4040             # flags of the old leader-elector sidecar
  tenure sidecar --follow-file /config/leader --ready-file /tmp/ready   # a person names the pod in a mounted ConfigMap

${exitCodesHelp}

${settingsHelp}`,
    )
    .action(async (_flags: unknown, declared: Command) => {
      const { sidecar } = await import("./sidecar.ts");
      await sidecar(declared, platform);
    });
}
