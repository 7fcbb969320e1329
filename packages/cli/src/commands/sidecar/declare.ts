// `tenure sidecar`: names, options and help. The work is in the modules that the action loads.

import { type Command, Option } from "commander";
import type { Platform } from "../../platform.ts";
import { addConnectionOptions, type ConnectionFlags } from "../../shared/connection.ts";
import { addElectionOptions, type ElectionFlags } from "../../shared/election-options.ts";
import { addLogOptions, type LogFlags } from "../../shared/log.ts";
import { addConfigOption, exitCodesHelp, settingsHelp } from "../../shared/settings.ts";
import { addTrafficOptions, type TrafficFlags } from "../../shared/traffic-options.ts";

export interface SidecarFlags extends ConnectionFlags, ElectionFlags, LogFlags, TrafficFlags {
  handoverDelay: string;
  followFile?: string;
  followConfigmap?: string;
  election?: string;
  electionNamespace?: string;
  http?: string;
  ttl?: string;
}

/** Where the sidecar of old is asked, and only from within the pod. */
export const defaultStatus = "127.0.0.1:4040";

export function declareSidecar(program: Command, platform: Platform): void {
  const command = program
    .command("sidecar")
    .description("Take part in an election for an application that asks over HTTP whether it leads");
  addElectionOptions(command);
  command.addOption(
    new Option(
      "--handover-delay <duration>",
      "how long the application has, from being told that it leads no more until another one may",
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
      new Option("--follow-file <path>", "no election: --ready-file while the file names this pod").helpGroup(
        "By hand:",
      ),
    )
    .addOption(
      new Option(
        "--follow-configmap <name>",
        "no election: likewise for a ConfigMap's key leader (or name/key)",
      ).helpGroup("By hand:"),
    )
    .addOption(new Option("--election <name>", "--lease-lock-name, as leader-elector called it").hideHelp())
    .addOption(new Option("--election-namespace <namespace>", "--lease-lock-namespace, likewise").hideHelp())
    .addOption(new Option("--http <address>", "--status, likewise").hideHelp())
    .addOption(
      new Option(
        "--ttl <duration>",
        "--lease-duration, with half and a quarter for the other two",
      ).hideHelp(),
    )
    .addOption(new Option("--use-cluster-credentials", "what it does anyway in a pod").hideHelp())
    .addHelpText(
      "after",
      `
The application asks, from within the pod (--status is ${defaultStatus} if it is not given):
  GET /leader   {"name":"pod-1","isLeader":true,"token":"4711","leaseSecondsLeft":12.9,…}
  GET /events   the same, pushed at every change (server-sent events)
It may work while isLeader is true and for leaseSecondsLeft after it last heard so; what it writes it fences with token. A
sidecar cannot stop an application that does not listen: tenure run can.

Examples:
  tenure sidecar --lease-lock-name billing
  tenure sidecar --lease-lock-name billing --status :8080 --label   # and only the leader gets traffic
  tenure sidecar --election=billing --http=0.0.0.0:4040             # as the leader-elector sidecar was called
  tenure sidecar --follow-file /config/leader --ready-file /tmp/ready   # a person names the pod in a mounted ConfigMap

${exitCodesHelp}

${settingsHelp}`,
    )
    .action(async (_flags: unknown, declared: Command) => {
      const { sidecar } = await import("./sidecar.ts");
      await sidecar(declared, platform);
    });
}
