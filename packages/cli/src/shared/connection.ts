/** The flags that say which cluster a command talks to. Cheap to load; what finds the cluster is in connect.ts. */
import type { ClusterConfig, KubeClient } from "@tenure/kube";
import { type Command, Option } from "commander";
import type { Platform } from "../platform.ts";

export interface ConnectionFlags {
  kubeconfig?: string;
  context?: string;
  /** Given as --namespace or --lease-lock-namespace. */
  namespace?: string;
  sandbox?: string;
}

export interface Connection {
  readonly config: ClusterConfig;
  /** For everything but the lock, which has one of its own: nothing may queue in front of a renewal. */
  readonly client: KubeClient;
  readonly namespace: string;
}

export interface ConnectOptions {
  /** Ends the waiting for credentials that are not mounted yet. */
  readonly signal?: AbortSignal;
  /** Told when credentials are waited for. */
  readonly onWait?: (message: string) => void;
}

/** @param style "elect": --lease-lock-namespace, as the election's flags have it; "operate": -n, as kubectl has it */
export function addConnectionOptions(command: Command, style: "elect" | "operate" = "operate"): void {
  const where = "(default: $NAMESPACE, $POD_NAMESPACE, that of the context or of the pod, else default)";
  const election = new Option("--lease-lock-namespace <namespace>", `namespace of the lock ${where}`);
  const operator = new Option("-n, --namespace <namespace>", `namespace ${where}`);
  const options = [
    new Option("--kubeconfig <file>", "(default: $KUBECONFIG, the pod's service account, ~/.kube/config)"),
    new Option("--context <name>", "context of the kubeconfig (default: its current one)"),
    style === "elect" ? election : operator,
    style === "elect" ? operator.hideHelp() : election.hideHelp(),
    new Option(
      "--sandbox <url|directory>",
      "a running `tenure sandbox` by its URL, or the directory of a service account of one",
    ),
  ];
  for (const option of options) command.addOption(option.helpGroup("Cluster:"));
}

export function connectionProblems({ sandbox, kubeconfig, context }: ConnectionFlags): string[] {
  if (sandbox === undefined) return [];
  return Object.entries({ "--kubeconfig": kubeconfig, "--context": context })
    .filter(([, value]) => value !== undefined)
    .map(([flag]) => `--sandbox and ${flag} exclude each other: leave one of them out`);
}

/** Finds the cluster; does not contact it. */
export async function connect(
  flags: ConnectionFlags,
  platform: Platform,
  options: ConnectOptions = {},
): Promise<Connection> {
  const { findCluster } = await import("./connect.ts");
  return findCluster(flags, platform, options);
}
