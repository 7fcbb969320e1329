/** `tenure manifests`: name, options and help. Its action loads the modules that do the work. */
import { parseDuration } from "@tenure/base";
import { type Command, InvalidArgumentError, Option } from "commander";
import { CliError } from "../../errors.ts";
import type { Platform } from "../../platform.ts";
import { manifestDefaults as defaults, type ManifestOptions, modes, trafficModes } from "./options.ts";

interface ManifestFlags extends Omit<ManifestOptions, "command"> {
  command?: string[];
  output: "yaml" | "json";
}

export function declareManifests(program: Command, platform: Platform): void {
  program
    .command("manifests")
    .description(
      "Print manifests to apply: ServiceAccount, least-privilege Role, Deployment, Service, PodDisruptionBudget",
    )
    .argument("[command...]", "command for the leader to run, after --")
    .requiredOption("--name <name>", "name of all objects and of the lease")
    .requiredOption("-n, --namespace <namespace>", "namespace of all objects")
    .requiredOption(
      "--image <image>",
      "mode run: an image whose entry point is tenure; other modes: the image of the application",
    )
    .option("--replicas <number>", `number of candidates (default: ${defaults.replicas})`, wholeNumber)
    .addOption(
      new Option("--traffic <way>", `who receives traffic; see below (default: ${defaults.traffic})`).choices(
        [...trafficModes],
      ),
    )
    .addOption(
      new Option("--mode <mode>", `what runs the election; see below (default: ${defaults.mode})`).choices([
        ...modes,
      ]),
    )
    .option("--command <word...>", "the same as the command after --")
    .option("--port <number>", "port of the application; adds a Service", wholeNumber)
    .option(
      "--status-port <number>",
      `port on which tenure answers probes (default: ${defaults.statusPort})`,
      wholeNumber,
    )
    .option("--tenure-image <image>", `image of the sidecar (default: ${defaults.tenureImage})`)
    .option(
      "--stop-timeout <duration>",
      `how long the program may take to stop (default: ${defaults.stopTimeout}s)`,
      seconds,
    )
    .option(
      "--grace-period <duration>",
      "termination grace period of the pod (default: stop timeout + 5s; in mode sidecar + 10s)",
      seconds,
    )
    .addOption(
      new Option("--strategy <strategy>", "strategy of the Deployment (default: rolling)").choices([
        "rolling",
        "recreate",
      ]),
    )
    .option(
      "--max-unavailable <amount>",
      "number or percentage of pods that may be unavailable in a rolling update (default: 0, or 100% if only the leader is Ready)",
      amount,
    )
    .option(
      "--max-surge <amount>",
      "number or percentage of extra pods in a rolling update (default: 1, or 0 if only the leader is Ready)",
      amount,
    )
    .option(
      "--no-register",
      "do not show candidates to operators, which needs rights on all Leases of the namespace",
    )
    .option(
      "--admission-policy",
      "add a policy with which replicas may change no other Leases than their own and, with --traffic label, nothing of pods but their own labels (Kubernetes 1.30; needs a cluster administrator)",
    )
    .option("--network-policy", "add a NetworkPolicy that keeps other pods away from the status port")
    .option(
      "--scrape-namespace <namespace>",
      "with --network-policy: let the pods of this namespace, such as Prometheus, read the status port",
    )
    .option("--monitoring", "add a PodMonitor and a PrometheusRule with alerts, for the Prometheus operator")
    .option(
      "--runbook-url <url>",
      `with --monitoring: the page that the alerts link to (default: ${defaults.runbookUrl})`,
    )
    .addOption(new Option("-o, --output <format>", "output format").choices(["yaml", "json"]).default("yaml"))
    .addHelpText(
      "after",
      `
Values of --traffic:
  none           the Service reaches every Ready replica; without --port there is no Service
  label          the Service selects the leader by the label tenure.dev/role=leader; standbys are Ready
  endpointslice  the leader writes itself into the Service's EndpointSlice; standbys are Ready
  ready-file     only the leader is Ready (cat /tmp/ready); a rollout replaces all pods at once
  configmap      like ready-file, and a ConfigMap contains the leader's name

Values of --mode:
  run            tenure run starts the program on the leader
  sidecar        tenure sidecar runs beside the application, which asks it who leads
  library        the application uses @tenure/election

Examples:
  tenure manifests --name billing --namespace prod --image registry.example/billing:1 -- node worker.js
  tenure manifests --name api --namespace prod --image registry.example/api:1 --traffic label --port 3000 -- node api.js
  tenure manifests --name api --namespace prod --image registry.example/api:1 --mode library --traffic label --port 3000 \\
    | kubectl apply -f -

Configurations whose rollout would hang are rejected, with the numbers and a fix.`,
    )
    .action(async (words: string[], { output, command, ...flags }: ManifestFlags) => {
      if (words.length > 0 && command) {
        throw new CliError(
          "Usage",
          "The command to run is given twice, with --command and after --; leave one of them out",
        );
      }
      const { printManifests } = await import("./print.ts");
      printManifests({ ...flags, command: command ?? words }, output, platform);
    });
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("Allowed: a whole number.");
  return Number(text);
}

function seconds(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms % 1_000 !== 0)
    throw new InvalidArgumentError('Allowed: a whole number of seconds, such as "25s".');
  return ms / 1_000;
}

function amount(text: string): number | string {
  return /^\d+$/.test(text) ? Number(text) : text;
}
