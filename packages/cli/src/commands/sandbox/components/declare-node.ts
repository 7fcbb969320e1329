/** `tenure sandbox node`: names, options and help. */
import { type Command, Option } from "commander";
import { addLogOptions, type LogFlags } from "../../../log/log.ts";
import type { Platform } from "../../../platform.ts";
import type { ConnectionFlags } from "../../../settings/connection-options.ts";

export type NodeFlags = Pick<ConnectionFlags, "kubeconfig" | "context"> &
  LogFlags & {
    name?: string;
    image?: string[];
    isolation?: "auto" | "none" | "mounts" | "network";
    dataDir?: string;
    services: boolean;
  };

export function declareNode(sandbox: Command, platform: Platform): void {
  const command = sandbox
    .command("node")
    .description("Run a node against any Kubernetes API: its pods are processes of this machine")
    .option(
      "--kubeconfig <file>",
      "path of the kubeconfig (default: $KUBECONFIG, the pod's service account, ~/.kube/config)",
    )
    .option("--context <name>", "context of the kubeconfig to use (default: its current context)")
    .option("--name <name>", "name of the node (default: the host name)")
    .option(
      "--image <name=folder-or-command...>",
      "what an image stands for (with isolation, rootfs in the folder is at /); other images stand for programs of this machine",
    )
    .addOption(
      new Option(
        "--isolation <how>",
        "how containers are separated; network gives each pod a network of its own, without a way out (default: auto, the best that the machine allows without losing the network)",
      ).choices(["auto", "none", "mounts", "network"]),
    )
    .option(
      "--data-dir <directory>",
      "directory for logs and volumes (default: one that is removed at the end)",
    )
    .option("--no-services", "do not serve the addresses of services on this machine");
  addLogOptions(command);
  command
    .addHelpText(
      "after",
      `
It registers the node, runs its pods and keeps its Lease fresh. When it stops or is killed, no process of its pods is left.
Pods run as your user: this is no security boundary. Use it only with pods that you trust.

Example:
  tenure sandbox --nodes 0                                               # in one terminal
  tenure sandbox node --kubeconfig ~/.tenure/sandbox.kubeconfig --image web=./my-app   # in another`,
    )
    .action(async (_flags: unknown, declared: Command) => {
      const { runNode } = await import("./run-node.ts");
      await runNode(declared, platform);
    });
}
