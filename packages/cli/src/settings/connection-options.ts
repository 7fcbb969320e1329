/** The flags that select the cluster. Cheap to load; cluster/connect.ts uses them. */
import type { Problem } from "@tenure/base";
import { type Command, Option } from "commander";
import { exclusive } from "./problems.ts";

export interface ConnectionFlags {
  kubeconfig?: string;
  context?: string;
  /** From --namespace or --lease-lock-namespace. */
  namespace?: string;
  sandbox?: string;
}

/** @param style "elect" shows --lease-lock-namespace, like the other flags of an election; "operate" shows -n, like kubectl */
export function addConnectionOptions(command: Command, style: "elect" | "operate" = "operate"): void {
  const where = "(default: $NAMESPACE, $POD_NAMESPACE, the namespace of the context or pod, else default)";
  const election = new Option("--lease-lock-namespace <namespace>", `namespace of the lock ${where}`);
  const operator = new Option("-n, --namespace <namespace>", `namespace of the election ${where}`);
  const options = [
    new Option(
      "--kubeconfig <file>",
      "path of the kubeconfig (default: $KUBECONFIG, the pod's service account, ~/.kube/config)",
    ),
    new Option("--context <name>", "context of the kubeconfig to use (default: its current context)"),
    style === "elect" ? election : operator,
    style === "elect" ? operator.hideHelp() : election.hideHelp(),
    new Option(
      "--sandbox <url|directory>",
      "use a running `tenure sandbox`: its URL, or a directory with a service account of it",
    ),
  ];
  for (const option of options) command.addOption(option.helpGroup("Cluster:"));
}

export function connectionProblems({ sandbox, kubeconfig, context }: ConnectionFlags): Problem[] {
  if (sandbox === undefined) return [];
  return [
    ...(kubeconfig === undefined ? [] : [exclusive("sandbox", "kubeconfig")]),
    ...(context === undefined ? [] : [exclusive("sandbox", "context")]),
  ];
}
