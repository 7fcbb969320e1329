/** The controllers, on one replica at a time. */
import { deploymentController } from "../controllers/deployment/controller.ts";
import { evictionController } from "../controllers/node-lifecycle/eviction-controller.ts";
import { defaultNodeGraceMs, nodeHealthController } from "../controllers/node-lifecycle/health-controller.ts";
import { replicaSetController } from "../controllers/replica-set/controller.ts";
import { type ElectedOptions, runElected } from "./run-elected.ts";

export interface ControllersOptions extends ElectedOptions {
  /** How long a node may give no sign of life before it counts as unreachable. @default 40_000 */
  nodeGraceMs?: number | undefined;
}

/** Runs the controllers while this process leads, until the signal aborts. */
export async function runControllers(options: ControllersOptions): Promise<void> {
  const { nodeGraceMs = defaultNodeGraceMs } = options;
  const controllers = [
    deploymentController,
    replicaSetController,
    nodeHealthController(nodeGraceMs),
    evictionController,
  ];
  await runElected("tenure-controllers", controllers, options);
}
