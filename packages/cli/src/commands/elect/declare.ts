// `tenure elect`: names, options and help. The work is in elect.ts, which the action loads.

import type { Command } from "commander";
import type { Platform } from "../../platform.ts";
import { addConnectionOptions, type ConnectionFlags } from "../../shared/connection.ts";
import { addElectionOptions, type ElectionFlags } from "../../shared/election-options.ts";
import { addLogOptions, type LogFlags } from "../../shared/log.ts";
import { addConfigOption, exitCodesHelp, settingsHelp } from "../../shared/settings.ts";

export type ElectFlags = ConnectionFlags & ElectionFlags & LogFlags;

/** The name that the article's program has. */
const defaultName = "my-leader-election-lock";

export function declareElect(program: Command, platform: Platform): void {
  const command = program
    .command("elect")
    .description("Take part in an election and print who leads: to see one, or to watch over one");
  addElectionOptions(command, defaultName);
  addConnectionOptions(command, "elect");
  addLogOptions(command);
  addConfigOption(command);
  command
    .addHelpText(
      "after",
      `
It works nothing: whoever leads says so. The leader is printed at every change and every 5 s.
Ctrl-C gives leadership up, and another one leads at once. A second Ctrl-C ends it without that.

Try it in three terminals, then press Ctrl-C in the one that leads:
  tenure sandbox                                                     # a cluster, if there is none
  tenure elect --kubeconfig ~/.tenure/sandbox.kubeconfig --id 1
  tenure elect --kubeconfig ~/.tenure/sandbox.kubeconfig --id 2
  tenure elect --kubeconfig ~/.tenure/sandbox.kubeconfig --id 3
  kubectl get lease ${defaultName} -w

${exitCodesHelp}

${settingsHelp}`,
    )
    .action(async (_flags: unknown, declared: Command) => {
      const { elect } = await import("./elect.ts");
      await elect(declared, platform);
    });
}
