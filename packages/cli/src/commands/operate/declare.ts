/** The commands of an operator: names, options and help. Their actions load the modules that do the work. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { outputOption } from "../../display/output.ts";
import type { Platform } from "../../platform.ts";
import { replicasOption } from "../../replicas/replicas-option.ts";
import { addConnectionOptions } from "../../settings/connection-options.ts";
import { offer } from "../../settings/flag-values.ts";
import type { ListFlags } from "./list.ts";
import type { OrderFlags } from "./order.ts";
import type { OrderName } from "./perform-order.ts";
import type { StatusFlags } from "./status.ts";
import type { WatchFlags } from "./watch.ts";

type End = (exitCode: number) => void;

export function declareOperate(program: Command, platform: Platform, end: End): void {
  declareStatus(program, platform, end);
  declareList(program, platform, end);
  declareWatch(program, platform, end);
  declareOrders(program, platform, end);
}

const allNamespaces = (verb: string) =>
  new Option("-A, --all-namespaces", `${verb} elections in all namespaces`);
const selector = () =>
  new Option(
    "-l, --selector <query>",
    "only elections whose lock has these labels, such as app=billing,tier!=test",
  );

const session = () => import("../../cluster/session.ts");

function addLockOption(command: Command): Command {
  return command.addOption(
    offer(
      new Option(
        "--lock <kind>",
        "kind of lock, if several have this name: lease, configmap, endpoints (default: the Lease if there is one); or the URL " +
          "of a store: postgres://…, etcd://… or etcds://…",
      ),
      ["lease", "configmap", "endpoints"],
    ),
  );
}

function declareStatus(program: Command, platform: Platform, end: End): void {
  const command = program
    .command("status")
    .description("Show who leads an election, and who works on what in shards and semaphores")
    .argument("<name>", "name of the election, which is the name of its Lease, or of the shards or semaphore")
    .option("-w, --watch", "then print every change, until you press Ctrl-C")
    .addOption(outputOption(["wide", "json", "yaml", "name", "jsonpath"]));
  addLockOption(command);
  addConnectionOptions(command);
  command
    .addHelpText(
      "after",
      `
Ages are measured by the API server's clock. The clock of this machine does not matter.

Exit codes: 0 there is a leader, or every shard has an owner; 1 there is not, or no such election; 2 wrong usage.

Examples:
  tenure status billing -n prod
  tenure status billing -n prod -o jsonpath='{.leader}'
  tenure status billing -n prod -w
  until tenure status billing > /dev/null; do sleep 1; done   # wait for a leader`,
    )
    .action(async (name: string, _flags: object, at: Command) => {
      const [{ inSession }, { status }] = await Promise.all([session(), import("./status.ts")]);
      end(await inSession<StatusFlags, number>(at, platform, { name }, (opened) => status(name, opened)));
    });
}

function declareList(program: Command, platform: Platform, end: End): void {
  const command = program
    .command("list")
    .alias("ls")
    .description("List the elections of a namespace or of the whole cluster")
    .addOption(allNamespaces("list"))
    .addOption(selector())
    .option(
      "-w, --watch",
      "then print every election that changes, until you press Ctrl-C; renewals are no changes",
    )
    .option("--no-headers", "leave out the headings of the table")
    .option("--legacy", "include elections whose lock is a ConfigMap or Endpoints")
    .option("--nodes", "include the heartbeat Leases of nodes, which are not elections")
    .addOption(
      new Option("--lock <url>", "list the elections of this store: postgres://…, etcd://… or etcds://…"),
    )
    .addOption(outputOption(["wide", "json", "yaml", "name", "jsonpath"]));
  addConnectionOptions(command);
  command
    .addHelpText(
      "after",
      `
On a terminal the table fits the screen: long names are shortened, and columns are left out. -o wide prints everything.
-o jsonpath=TEMPLATE takes the templates of kubectl, on the data of -o json.

Examples:
  tenure list -A
  tenure list -n prod -l app=billing -w
  tenure list -A -o jsonpath='{range .items[?(@.standing!="led")]}{.namespace}/{.name}{"\\n"}{end}'   # elections without a leader`,
    )
    .action(async (_flags: object, at: Command) => {
      const [{ inSession }, { list, selectorProblems: problems }] = await Promise.all([
        session(),
        import("./list.ts"),
      ]);
      end(await inSession<ListFlags, number>(at, platform, { problems }, list));
    });
}

function declareWatch(program: Command, platform: Platform, end: End): void {
  const command = program
    .command("watch")
    .description(
      "Follow one election or all of a namespace: a timeline on a terminal, one line per change in a pipe",
    )
    .argument("[name]", "name of the election (default: all)")
    .addOption(allNamespaces("follow"))
    .addOption(selector())
    .addOption(new Option("--window <duration>", "length of the timeline").default("5m"))
    .addOption(
      new Option(
        "--record <file>",
        "also record what happens in this file, to open it with tenure ui --open",
      ),
    )
    .addOption(replicasOption())
    .addOption(outputOption(["json"]));
  addLockOption(command);
  addConnectionOptions(command);
  command
    .addHelpText(
      "after",
      `
Renewals are not shown. Keys on a terminal: arrows, j, k, Page Up, Page Down, g and G select an election; Enter shows its timeline
and its changes, Escape goes back; / filters by name or leader; q or Ctrl-C quits.

Examples:
  tenure watch billing -n prod
  tenure watch -A -o json | jq -c 'select(.change == "leads")'
  tenure watch -A --record elections.ndjson`,
    )
    .action(async (name: string | undefined, _flags: object, at: Command) => {
      const [{ inSession }, { watch, watchProblems }] = await Promise.all([session(), import("./watch.ts")]);
      const problems = (flags: WatchFlags) => watchProblems(name, flags);
      end(
        await inSession<WatchFlags, number>(at, platform, { name, problems }, (opened) =>
          watch(name, opened),
        ),
      );
    });
}

const orders: readonly { name: OrderName; description: string; help: string }[] = [
  {
    name: "step-down",
    description: "Make the leader step down, so that another candidate takes over",
    help: "The leader stops its work, releases the lock and stays out of the election for its cool-down.",
  },
  {
    name: "transfer",
    description: "Transfer leadership to a candidate of your choice",
    help: `A name that tenure status does not list is rejected, unless no candidate is listed. The named candidate accepts, then the leader
stops its work and releases the lock. For one lease duration only the named candidate may take it. If no candidate of this name answers within 5 s (a third of a longer lease duration, at most --timeout),
the order is withdrawn and the leader stays.`,
  },
  {
    name: "pause",
    description: "Make the leader step down, and let no candidate take over until you resume",
    help: "Use it for maintenance: no replica does the work while the election is paused.",
  },
  { name: "resume", description: "End a pause", help: "Candidates may take the lock again." },
];

function declareOrders(program: Command, platform: Platform, end: End): void {
  for (const { name: which, description, help } of orders) {
    const command = program
      .command(which)
      .description(description)
      .argument("<name>", "name of the election");
    if (which === "transfer")
      command
        .requiredOption("--to <id>", "identity of the candidate, usually its pod name", identity)
        .option(
          "--unlisted",
          "ask a candidate that tenure status does not list, for example one with --no-register",
        );
    if (which === "pause")
      command.option("--reason <text>", "why, for others who look at the election", oneLine);
    command
      .option("--no-wait", "do not wait until the order has taken effect")
      .addOption(new Option("--wait", "wait until the order has taken effect (default)").hideHelp())
      .addOption(new Option("--timeout <duration>", "how long to wait").default("60s"))
      .addOption(outputOption(["json", "yaml"]));
    addLockOption(command);
    addConnectionOptions(command);
    command
      .addHelpText(
        "after",
        `
${help}
Only tenure candidates obey orders; others, such as those on client-go, ignore them. Needs the verbs get, patch and watch on the lock.

Exit codes: 0 the order took effect; 1 it did not; 2 wrong usage.`,
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

function oneLine(text: string): string {
  if (text.length > 200 || /\p{Cc}/u.test(text))
    throw new InvalidArgumentError("Allowed: one line of at most 200 characters.");
  return text;
}

function identity(text: string): string {
  if (text.trim() === "" || /\p{Cc}/u.test(text))
    throw new InvalidArgumentError("Allowed: the identity of a candidate.");
  return text;
}
