/**
 * `tenure sandbox` and what is below it: names, options and help. The work is in the modules that the actions load.
 */
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { defaultKubeconfigPath, type Platform } from "../../platform.ts";

/** Not 6443, which a real cluster on this machine may have. */
const defaultPort = 16443;

export interface SandboxFlags {
  port: number;
  host: string;
  hostName?: string[];
  dataDir?: string;
  kubeconfigOut?: string;
  anonymous?: boolean;
  tls: boolean;
  logFormat?: "text" | "json";
}

export function declareSandbox(program: Command, platform: Platform): void {
  const sandbox = program
    .command("sandbox")
    .description("Run a Kubernetes API in this process: no cluster needed to try, develop or test")
    .option("--port <number>", "port to listen on; 0 picks a free one", portNumber, defaultPort)
    .option(
      "--host <address>",
      "address to listen on; other than loopback lets other machines in",
      "127.0.0.1",
    )
    .option("--host-name <name...>", "more names or addresses that the certificate is valid for")
    .option("--data-dir <directory>", "keep everything there across restarts (default: in memory only)")
    .option(
      "--kubeconfig-out <file>",
      `write the administrator's kubeconfig there (default: ${defaultKubeconfigPath(platform)})`,
    )
    .option("--anonymous", "let requests without a token do everything")
    .option("--no-tls", "plain HTTP instead of HTTPS")
    .addOption(
      new Option("--log-format <format>", "text on a terminal, json otherwise").choices(["text", "json"]),
    )
    .addHelpText(
      "after",
      `
Examples:
  tenure sandbox                                  # in one terminal
  export KUBECONFIG=~/.tenure/sandbox.kubeconfig  # in another
  kubectl get leases -A -w
  tenure sandbox --port 0 --data-dir ./data       # a free port, and the data survives a restart
  tenure sandbox faults add latency=500 --verb update --resource leases

It answers as kube-apiserver does, and has no controllers, scheduler or nodes: a Deployment is stored and runs nothing.
Ctrl-C stops it.`,
    )
    .action(async (flags: SandboxFlags) => {
      const { runSandbox } = await import("./serve.ts");
      await runSandbox(flags, platform);
    });
  declareFaults(sandbox, platform);
}

function declareFaults(sandbox: Command, platform: Platform): void {
  const faults = sandbox
    .command("faults")
    .description("Break a running sandbox on purpose: slow it, cut it, make it refuse")
    .addHelpText(
      "after",
      `
Effects:
  latency=MS        answer later
  hang              never answer
  drop              close the connection, do nothing
  lose-answer       do it, then close the connection instead of answering
  status=CODE       refuse with 409, 429, 500 or 503; status=429,retry-after=5 says when to come again
  stall-watch       watches stay open and silent until the fault is removed
  cut-watch         close watches, those that are open and new ones

Examples:
  tenure sandbox faults add latency=2000 --verb update --resource leases --client pod-1
  tenure sandbox faults add lose-answer --verb update --times 1
  tenure sandbox faults add status=503 --probability 0.2
  tenure sandbox faults clear`,
    );
  const kubeconfig = () =>
    new Option(
      "--kubeconfig <file>",
      "of the sandbox (default: $KUBECONFIG, then the one that tenure sandbox writes)",
    );
  const load = () => import("./faults.ts");

  faults
    .command("add")
    .description("Add a fault, and print its number")
    .addArgument(new Argument("<effect>", "see tenure sandbox faults --help"))
    .option(
      "--verb <verb>",
      "get, list, watch, create, update, patch, delete, deletecollection (default: all)",
    )
    .option("--resource <plural>", "e.g. leases, or pods/status (default: all)")
    .option("--namespace <namespace>", "(default: all)")
    .option("--name <name>", "of the object (default: all)")
    .option("--client <text>", "part of the user's name or of the User-Agent (default: all)")
    .option("--times <number>", "remove the fault after it struck so often", Number)
    .option("--probability <number>", "how likely it strikes, from 0 to 1", Number)
    .addOption(kubeconfig())
    .action(async (effect, flags) => (await load()).addFault(effect, flags, platform));
  faults
    .command("list")
    .description("Print the faults, one JSON object a line")
    .addOption(kubeconfig())
    .action(async (flags) => (await load()).listFaults(flags, platform));
  faults
    .command("remove")
    .description("Remove one fault")
    .argument("<number>", "as add printed it", Number)
    .addOption(kubeconfig())
    .action(async (id, flags) => (await load()).removeFault(id, flags, platform));
  faults
    .command("clear")
    .description("Remove all faults")
    .addOption(kubeconfig())
    .action(async (flags) => (await load()).clearFaults(flags, platform));
  faults
    .command("compact")
    .description("Forget the history of changes: watches from an older revision get 410")
    .addOption(kubeconfig())
    .action(async (flags) => (await load()).compact(flags, platform));
  faults
    .command("restart")
    .description("Cut all connections and start again: same port, same data")
    .addOption(kubeconfig())
    .action(async (flags) => (await load()).restart(flags, platform));
}

function portNumber(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65535)
    throw new InvalidArgumentError("It must be a whole number from 0 to 65535.");
  return port;
}
