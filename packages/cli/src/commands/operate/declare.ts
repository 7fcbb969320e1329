/** What an operator types: names, options and help. The work is in the modules that the actions load. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { outputOption } from "../../elections/output.ts";
import type { Platform } from "../../platform.ts";
import { addConnectionOptions } from "../../shared/connection.ts";
import type { ListFlags } from "./list.ts";
import type { OrderFlags, OrderName } from "./order.ts";
import type { WatchFlags } from "./watch.ts";

type End = (exitCode: number) => void;

export function declareOperate(program: Command, platform: Platform, end: End): void {
  declareStatus(program, platform, end);
  declareList(program, platform, end);
  declareWatch(program, platform, end);
  declareOrders(program, platform, end);
}

const session = () => import("../../elections/session.ts");

function addLockOption(command: Command): Command {
  return command.addOption(
    new Option(
      "--lock <kind>",
      "which lock, where there are several of one name (default: the lease if there is one)",
    ).choices(["lease", "configmap", "endpoints"]),
  );
}

function declareStatus(program: Command, platform: Platform, end: End): void {
  const command = program
    .command("status")
    .description("Who leads, since when, how fresh its lease is; exits with 1 when nobody leads")
    .argument("<name>", "of the election, which is that of its Lease")
    .addOption(outputOption(["wide", "json", "yaml"]));
  addLockOption(command);
  addConnectionOptions(command);
  command
    .addHelpText(
      "after",
      `
Ages count by the API server's clock, as its answers tell it: the clock of this machine does not matter.

Exit codes: 0 somebody leads; 1 nobody does, or there is no such election; 2 wrong usage.

Examples:
  tenure status billing -n prod
  tenure status billing -n prod -o json | jq -r .leader
  until tenure status billing > /dev/null; do sleep 1; done   # wait for a leader`,
    )
    .action(async (name: string, _flags: object, at: Command) => {
      const [{ inSession }, { status }] = await Promise.all([session(), import("./status.ts")]);
      end(await inSession(at, platform, { name }, (opened) => status(name, opened)));
    });
}

function declareList(program: Command, platform: Platform, end: End): void {
  const command = program
    .command("list")
    .alias("ls")
    .description("All elections of a namespace, or of the cluster")
    .option("-A, --all-namespaces", "in all namespaces")
    .option("--legacy", "also those in ConfigMaps and Endpoints")
    .option("--nodes", "also the heartbeats of nodes, which are no elections")
    .addOption(outputOption(["wide", "json", "yaml"]));
  addConnectionOptions(command);
  command.action(async (_flags: object, at: Command) => {
    const [{ inSession }, { list }] = await Promise.all([session(), import("./list.ts")]);
    end(await inSession<ListFlags, number>(at, platform, {}, list));
  });
}

function declareWatch(program: Command, platform: Platform, end: End): void {
  const command = program
    .command("watch")
    .description(
      "Follow one election, or all of a namespace: a timeline on a terminal, a line for each change in a pipe",
    )
    .argument("[name]", "of the election (default: all)")
    .option("-A, --all-namespaces", "in all namespaces")
    .addOption(new Option("--window <duration>", "how far back the timeline goes").default("5m"))
    .addOption(outputOption(["json"]));
  addLockOption(command);
  addConnectionOptions(command);
  command
    .addHelpText(
      "after",
      `
Renewals are no changes and make no lines. Ctrl-C ends it.

Examples:
  tenure watch billing -n prod
  tenure watch -A -o json | jq -c 'select(.change == "leads")'`,
    )
    .action(async (name: string | undefined, _flags: object, at: Command) => {
      const [{ inSession }, { watch, watchProblems }, { systemTerminal }] = await Promise.all([
        session(),
        import("./watch.ts"),
        import("./terminal.ts"),
      ]);
      const problems = (flags: WatchFlags) => watchProblems(name, flags);
      end(
        await inSession<WatchFlags, number>(at, platform, { name, problems }, (opened) =>
          watch(name, opened, systemTerminal),
        ),
      );
    });
}

const orders: readonly { name: OrderName; description: string; help: string }[] = [
  {
    name: "step-down",
    description: "Make the leader end its term; another candidate takes over",
    help: "The leader stops its work, releases the lock and keeps out for its cool-down.",
  },
  {
    name: "transfer",
    description: "Hand leadership to a candidate of your choice",
    help: "The leader stops its work and releases the lock; the others leave the first lease duration to the one that is named.",
  },
  {
    name: "pause",
    description: "End the leader's term and let nobody take office until it is resumed",
    help: "For maintenance: the work of the election stops everywhere.",
  },
  { name: "resume", description: "End a pause", help: "Candidates take part again." },
];

function declareOrders(program: Command, platform: Platform, end: End): void {
  for (const { name: which, description, help } of orders) {
    const command = program.command(which).description(description).argument("<name>", "of the election");
    if (which === "transfer")
      command.requiredOption("--to <id>", "identity of the candidate, usually the name of its pod", identity);
    command
      .option("--no-wait", "do not wait until the order has come about")
      .addOption(new Option("--wait", "wait until the order has come about (default)").hideHelp())
      .addOption(new Option("--timeout <duration>", "how long to wait").default("60s"))
      .addOption(outputOption(["json", "yaml"]));
    addLockOption(command);
    addConnectionOptions(command);
    command
      .addHelpText(
        "after",
        `
${help}
Candidates of tenure heed orders; others, such as those on client-go, do not read them. Needs get, patch and watch on the lock.

Exit codes: 0 it has come about; 1 it has not; 2 wrong usage.`,
      )
      .action(async (name: string, _flags: object, at: Command) => {
        const [{ inSession }, { order, orderProblems: problems }] = await Promise.all([
          session(),
          import("./order.ts"),
        ]);
        end(
          await inSession<OrderFlags, number>(at, platform, { name, problems }, (opened) =>
            order(which, name, opened),
          ),
        );
      });
  }
}

function identity(text: string): string {
  if (text.trim() === "" || /\p{Cc}/u.test(text))
    throw new InvalidArgumentError("It must be the identity of a candidate.");
  return text;
}
