/** `tenure sandbox` and its subcommands: names, options and help. Their actions load the modules that do the work. */
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { defaultKubeconfigPath, type Platform } from "../../platform.ts";
import { declareComponents } from "./components/declare.ts";
import { declareNode } from "./components/declare-node.ts";

/** Not 6443, which a real cluster on this machine may use. */
const defaultPort = 16443;

export interface SandboxFlags {
  port: number;
  host: string;
  hostName?: string[];
  dataDir?: string;
  store?: string;
  kubeconfigOut?: string;
  anonymous?: boolean;
  tls: boolean;
  logFormat?: "text" | "json";
  nodes?: number;
  controllers?: "tenure" | "none";
  scheduler?: "tenure" | "none";
  image?: string[];
  isolation?: "auto" | "none" | "mounts" | "network";
}

export function declareSandbox(program: Command, platform: Platform): void {
  const sandbox = program
    .command("sandbox")
    .description("Run a Kubernetes API server in this process, to try, develop and test without a cluster")
    .option("--port <number>", "port to listen on; 0 picks a free one", portNumber, defaultPort)
    .option(
      "--host <address>",
      "address to listen on; any address other than loopback is open to other machines",
      "127.0.0.1",
    )
    .option("--host-name <name...>", "further names or addresses of the server, for its certificate")
    .option(
      "--data-dir <directory>",
      "directory to keep the data in across restarts (default: in memory only)",
    )
    .option(
      "--store <url>",
      "keep the data in etcd, for several sandboxes at once: etcd://HOST1:2379,HOST2:2379, etcds://… with TLS",
    )
    .option(
      "--kubeconfig-out <file>",
      `where to write the administrator's kubeconfig (default: ${defaultKubeconfigPath(platform)})`,
    )
    .option(
      "--nodes <number>",
      "run a cluster with this many nodes: controllers, scheduler and node agents beside the API (default: only the API)",
      wholeNumber,
    )
    .addOption(
      new Option("--controllers <which>", "with --nodes: the controllers to run (default: tenure)").choices([
        "tenure",
        "none",
      ]),
    )
    .addOption(
      new Option("--scheduler <which>", "with --nodes: the scheduler to run (default: tenure)").choices([
        "tenure",
        "none",
      ]),
    )
    .option(
      "--image <name=folder-or-command...>",
      "with --nodes: what an image stands for (with isolation, rootfs in the folder is at /); other images stand for programs of this machine",
    )
    .addOption(
      new Option(
        "--isolation <how>",
        "with --nodes: how containers are separated; network gives each pod a network of its own, without a way out (default: auto, the best that the machine allows without losing the network)",
      ).choices(["auto", "none", "mounts", "network"]),
    )
    .option("--anonymous", "allow every request without a token, except requests of web pages")
    .option("--no-tls", "serve plain HTTP instead of HTTPS")
    .addOption(
      new Option("--log-format <format>", "output format (default: text on a terminal, else json)").choices([
        "text",
        "json",
      ]),
    )
    .addHelpText(
      "after",
      `
Examples:
  tenure sandbox                                  # in one terminal
  export KUBECONFIG=~/.tenure/sandbox.kubeconfig  # in another
  kubectl get leases -A -w
  tenure sandbox --nodes 3                        # also runs Deployments, as processes of this machine
  tenure sandbox --port 0 --data-dir ./data       # a free port, and data that survives a restart
  tenure sandbox faults add latency=500 --verb update --resource leases

It responds like kube-apiserver. Without --nodes it has no controllers, scheduler or nodes: it stores a Deployment, but runs
no pods. With --nodes it also runs controllers and a scheduler, each on one process at a time: more of them can run elsewhere
with tenure sandbox controllers and tenure sandbox scheduler. The containers of pods are processes of this machine. An image is
only a name: --image web=./my-app names a folder or a command for it.
Press Ctrl-C to stop it.`,
    )
    .action(async (flags: SandboxFlags) => {
      const { runSandbox } = await import("./serve.ts");
      // A password belongs into the environment, not onto the command line.
      const store = flags.store ?? platform.env("TENURE_STORE");
      await runSandbox(store ? { ...flags, store } : flags, platform);
    });
  declareComponents(sandbox, platform);
  declareNode(sandbox, platform);
  declareFaults(sandbox, platform);
}

function declareFaults(sandbox: Command, platform: Platform): void {
  const faults = sandbox
    .command("faults")
    .description("Inject faults into a running sandbox: latency, dropped connections, errors")
    .addHelpText(
      "after",
      `
Effects:
  latency=MS        delay the response
  hang              never respond
  drop              close the connection without processing the request
  lose-answer       process the request, then close the connection instead of responding
  status=CODE       fail with 409, 429, 500 or 503; status=429,retry-after=5 adds a Retry-After header
  stall-watch       watches stay open but silent until the fault is removed
  cut-watch         close open watches and new ones

Examples:
  tenure sandbox faults add latency=2000 --verb update --resource leases --client pod-1
  tenure sandbox faults add lose-answer --verb update --times 1
  tenure sandbox faults add status=503 --probability 0.2
  tenure sandbox faults clear`,
    );
  const kubeconfig = () =>
    new Option(
      "--kubeconfig <file>",
      "kubeconfig of the sandbox (default: $KUBECONFIG, else the file that tenure sandbox writes)",
    );
  const load = () => import("./faults.ts");

  faults
    .command("add")
    .description("Add a fault and print its number")
    .addArgument(new Argument("<effect>", "effect of the fault; see tenure sandbox faults --help"))
    .option(
      "--verb <verb>",
      "only requests with this verb: get, list, watch, create, update, patch, delete, deletecollection (default: all)",
    )
    .option(
      "--resource <plural>",
      "only requests for this resource, such as leases or pods/status (default: all)",
    )
    .option("--namespace <namespace>", "only requests in this namespace (default: all)")
    .option("--name <name>", "only requests for the object with this name (default: all)")
    .option("--client <text>", "only requests whose user name or User-Agent contains this (default: all)")
    .option("--times <number>", "remove the fault after this many requests", Number)
    .option("--probability <number>", "probability that a request is affected, from 0 to 1", Number)
    .addOption(kubeconfig())
    .action(async (effect, flags) => (await load()).addFault(effect, flags, platform));
  faults
    .command("list")
    .description("Print all faults, one JSON object per line")
    .addOption(kubeconfig())
    .action(async (flags) => (await load()).listFaults(flags, platform));
  faults
    .command("remove")
    .description("Remove one fault")
    .argument("<number>", "number of the fault, as printed by add", Number)
    .addOption(kubeconfig())
    .action(async (id, flags) => (await load()).removeFault(id, flags, platform));
  faults
    .command("clear")
    .description("Remove all faults")
    .addOption(kubeconfig())
    .action(async (flags) => (await load()).clearFaults(flags, platform));
  faults
    .command("compact")
    .description("Drop the history of changes, so that watches from an older revision fail with 410")
    .addOption(kubeconfig())
    .action(async (flags) => (await load()).compact(flags, platform));
  faults
    .command("restart")
    .description("Close all connections and restart with the same port and data")
    .addOption(kubeconfig())
    .action(async (flags) => (await load()).restart(flags, platform));
}

function portNumber(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65535)
    throw new InvalidArgumentError("Allowed: a whole number from 0 to 65535.");
  return port;
}

function wholeNumber(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw new InvalidArgumentError("Allowed: a whole number from 0 to 999.");
  return Number(text);
}
