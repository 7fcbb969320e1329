/** `tenure sandbox controllers` and `tenure sandbox scheduler`: names, options and help. */
import { presets } from "@tenure/core";
import { type Command, Option } from "commander";
import { addLogOptions, type LogFlags } from "../../../log/log.ts";
import type { Platform } from "../../../platform.ts";
import type { ConnectionFlags } from "../../../settings/connection-options.ts";
import type { ElectionFlags } from "../../../settings/election-options.ts";

export type ComponentFlags = Pick<ConnectionFlags, "kubeconfig" | "context"> &
  Pick<ElectionFlags, "id" | "preset" | "leaseDuration" | "renewDeadline" | "retryPeriod"> &
  LogFlags;

export type ComponentName = "controllers" | "scheduler";

const about: Readonly<Record<ComponentName, { description: string; help: string }>> = {
  controllers: {
    description: "Run the controllers of the sandbox against any Kubernetes API, on one replica at a time",
    help: `Controllers: Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, CronJob, EndpointSlice, Endpoints, PodDisruptionBudget, node
lifecycle, and the ConfigMap kube-root-ca.crt of every namespace.
Start it several times: the Lease kube-system/tenure-controllers decides which process works. When that process stops
or is killed, another one goes on.

Example:
  tenure sandbox --nodes 0 --controllers none       # in one terminal
  tenure sandbox controllers --kubeconfig ~/.tenure/sandbox.kubeconfig   # in two others`,
  },
  scheduler: {
    description: "Run the scheduler of the sandbox against any Kubernetes API, on one replica at a time",
    help: `It assigns pods to nodes by resource requests, selectors, affinity, taints, host ports and topology spread. It does
not preempt pods, and does not look at volumes.
Start it several times: the Lease kube-system/tenure-scheduler decides which process works.

Example:
  tenure sandbox --nodes 0 --scheduler none         # in one terminal
  tenure sandbox scheduler --kubeconfig ~/.tenure/sandbox.kubeconfig     # in two others`,
  },
};

export function declareComponents(sandbox: Command, platform: Platform): void {
  for (const name of ["controllers", "scheduler"] as const) {
    const { description, help } = about[name];
    const command = sandbox
      .command(name)
      .description(description)
      .option(
        "--kubeconfig <file>",
        "path of the kubeconfig (default: $KUBECONFIG, the pod's service account, ~/.kube/config)",
      )
      .option("--context <name>", "context of the kubeconfig to use (default: its current context)")
      .option(
        "--id <identity>",
        "identity of this process, different for each (default: the host name and a random part)",
      )
      .addOption(
        new Option("--preset <name>", "values for the next three flags")
          .choices(Object.keys(presets))
          .default("standard"),
      )
      .option("--lease-duration <duration>", "how long other processes wait after the last renewal")
      .option("--renew-deadline <duration>", "how long after its last renewal a leader stops leading")
      .option("--retry-period <duration>", "longest wait between two attempts");
    addLogOptions(command);
    command.addHelpText("after", `\n${help}`).action(async (_flags: unknown, declared: Command) => {
      const { runComponent } = await import("./run-component.ts");
      await runComponent(name, declared, platform);
    });
  }
}
