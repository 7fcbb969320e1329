/** `tenure ui`: name, options and help. Its action loads the modules that do the work. */
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Platform } from "../../platform.ts";
import { replicasOption } from "../../replicas/replicas-option.ts";
import { addConnectionOptions } from "../../settings/connection-options.ts";

export function declareUi(program: Command, platform: Platform, end: (exitCode: number) => void): void {
  const command = program
    .command("ui")
    .description(
      "Show elections as a web page: terms on a time axis, gaps and their reasons, candidates, orders",
    )
    .argument("[name]", "name of the election (default: all)")
    .option("-A, --all-namespaces", "show elections in all namespaces")
    .option("--port <number>", "port to listen on; 0 picks a free one", portNumber, 0)
    .addOption(
      new Option(
        "--host <address>",
        "address to listen on; any address other than loopback needs --read-only",
      ).default("127.0.0.1"),
    )
    .option("--host-name <name...>", "further names under which the page may be opened")
    .option("--read-only", "show no buttons and accept no orders")
    .option("--open <file>", "show this recording of tenure watch --record, without a cluster")
    .option("--html <file>", "with --open: write one HTML file that needs no server, and exit")
    .addOption(
      new Option(
        "--lock <kind>",
        "kind of lock: lease, configmap, endpoints; or the URL of a store: postgres://…, etcd://… or etcds://…",
      ),
    )
    .addOption(replicasOption());
  addConnectionOptions(command);
  command
    .addHelpText(
      "after",
      `
It prints an address that works once. The page acts with your rights: a button is there only if you may use it.
Without --replica, it finds the pods of each election, and asks those that it can reach for their work.

Examples:
  tenure ui -A
  tenure ui billing -n prod
  tenure ui --open elections.ndjson
  tenure ui --open elections.ndjson --html elections.html
  tenure ui -A --read-only --host 0.0.0.0 --port 8080    # in a cluster, behind kubectl port-forward`,
    )
    .action(async (name: string | undefined, _flags: object, at: Command) => {
      const { runUi } = await import("./ui.ts");
      end(await runUi(name, at as Command, platform));
    });
}

function portNumber(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new InvalidArgumentError("Allowed: 0 to 65535.");
  return port;
}
