/** `tenure elect`: name, options and help. Its action loads elect.ts, which does the work. */
import type { Command } from "commander";
import { addLogOptions, type LogFlags } from "../../log/log.ts";
import type { Platform } from "../../platform.ts";
import { addConnectionOptions, type ConnectionFlags } from "../../settings/connection-options.ts";
import { addElectionOptions, type ElectionFlags } from "../../settings/election-options.ts";
import { addConfigOption, exitCodesHelp, settingsHelp } from "../../settings/settings.ts";

export type ElectFlags = ConnectionFlags & ElectionFlags & LogFlags;

/** The name in the client-go example program. */
const defaultName = "my-leader-election-lock";

export function declareElect(program: Command, platform: Platform): void {
  const command = program
    .command("elect")
    .description("Take part in an election and print who leads, to try it out or to monitor it");
  addElectionOptions(command, defaultName);
  addConnectionOptions(command, "elect");
  addLogOptions(command);
  addConfigOption(command);
  command
    .addHelpText(
      "after",
      `
It does no work; it only prints who leads, at every change and every 5 seconds.
Ctrl-C gives up leadership, so that another candidate leads at once, and so does closing the terminal. A second Ctrl-C exits
without waiting for that.

Try it in three terminals, then press Ctrl-C in the one that leads:
  tenure sandbox                                                     # if you have no cluster
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
