/** `tenure manifests`: names, options and help. The work is in the modules that the action loads. */
import { parseDuration } from "@tenure/base";
import { type Command, InvalidArgumentError, Option } from "commander";
import { CliError } from "../../errors.ts";
import type { Platform } from "../../platform.ts";
import { type ManifestOptions, modes, trafficModes } from "./options.ts";

interface ManifestFlags extends Omit<ManifestOptions, "command"> {
  command?: string[];
  output: "yaml" | "json";
}

export function declareManifests(program: Command, platform: Platform): void {
  program
    .command("manifests")
    .description("Print what to apply to a cluster: account, least rights, Deployment, Service, budget")
    .argument("[command...]", "what the leader runs, after --")
    .requiredOption("--name <name>", "of all the objects, and of the lease")
    .requiredOption("-n, --namespace <namespace>", "where they live")
    .requiredOption(
      "--image <image>",
      "mode run: one with tenure as its entry point; otherwise the application's",
    )
    .option("--replicas <number>", "how many candidates (default: 3)", wholeNumber)
    .addOption(new Option("--traffic <way>", "who is reached (default: none)").choices([...trafficModes]))
    .addOption(new Option("--mode <mode>", "who runs the election (default: run)").choices([...modes]))
    .option("--command <word...>", "the same as the words after --")
    .option("--port <number>", "where the application listens; makes a Service", wholeNumber)
    .option("--status-port <number>", "where tenure answers probes (default: 8081)", wholeNumber)
    .option("--tenure-image <image>", "of the sidecar (default: tenure:0.1.0)")
    .option("--stop-timeout <duration>", "how long the program may take to stop (default: 25s)", seconds)
    .option(
      "--grace-period <duration>",
      "of the pod (default: stop timeout + 5s, in mode sidecar + 10s)",
      seconds,
    )
    .addOption(
      new Option("--strategy <strategy>", "of the Deployment (default: rolling)").choices([
        "rolling",
        "recreate",
      ]),
    )
    .option(
      "--max-unavailable <amount>",
      "pods that may be missing in a rolling update, or a percentage (default: 0, or 100% where only the leader is Ready)",
      amount,
    )
    .option(
      "--max-surge <amount>",
      "pods that may be too many, or a percentage (default: 1, or 0 where only the leader is Ready)",
      amount,
    )
    .addOption(new Option("-o, --output <format>").choices(["yaml", "json"]).default("yaml"))
    .addHelpText(
      "after",
      `
Ways of traffic:
  none           every Ready replica is reached; without --port none is
  label          the Service finds the leader by the label tenure.dev/role=leader; standbys are Ready
  endpointslice  the leader writes itself into the Service's EndpointSlice; standbys are Ready
  ready-file     only the leader is Ready (cat /tmp/ready); pods are replaced all at once
  configmap      as ready-file, and a ConfigMap names the leader

Modes:
  run            tenure run starts the program on the leader
  sidecar        tenure sidecar runs beside the application, which asks it who leads
  library        the application uses @tenure/election

Examples:
  tenure manifests --name billing --namespace prod --image registry.example/billing:1 -- node worker.js
  tenure manifests --name api --namespace prod --image registry.example/api:1 --traffic label --port 3000 -- node api.js
  tenure manifests --name api --namespace prod --image registry.example/api:1 --mode library --traffic label --port 3000 \\
    | kubectl apply -f -

What would never finish a rollout is refused, with the numbers and the way out.`,
    )
    .action(async (words: string[], { output, command, ...flags }: ManifestFlags) => {
      if (words.length > 0 && command) {
        throw new CliError(
          "USAGE",
          "Cannot tell what the leader shall run: it is given by --command and after --, use one.",
        );
      }
      const { printManifests } = await import("./print.ts");
      printManifests({ ...flags, command: command ?? words }, output, platform);
    });
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

function seconds(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms % 1_000 !== 0)
    throw new InvalidArgumentError('It must be whole seconds such as "25s".');
  return ms / 1_000;
}

function amount(text: string): number | string {
  return /^\d+$/.test(text) ? Number(text) : text;
}
