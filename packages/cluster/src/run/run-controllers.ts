/** The controllers, on one replica at a time. */
import { cronJobController } from "../controllers/cron-job/controller.ts";
import { daemonSetController } from "../controllers/daemon-set/controller.ts";
import { deploymentController } from "../controllers/deployment/controller.ts";
import { disruptionController } from "../controllers/disruption/controller.ts";
import { endpointsController } from "../controllers/endpoints/endpoints-controller.ts";
import { endpointSliceController } from "../controllers/endpoints/slice-controller.ts";
import { jobController } from "../controllers/job/controller.ts";
import { evictionController } from "../controllers/node-lifecycle/eviction-controller.ts";
import { defaultNodeGraceMs, nodeHealthController } from "../controllers/node-lifecycle/health-controller.ts";
import { replicaSetController } from "../controllers/replica-set/controller.ts";
import { rootCaController } from "../controllers/root-ca/controller.ts";
import { statefulSetController } from "../controllers/stateful-set/controller.ts";
import { type ElectedOptions, runElected } from "./run-elected.ts";

export interface ControllersOptions extends ElectedOptions {
  /** How long a node may give no sign of life before it counts as unreachable. @default 50_000 */
  nodeGraceMs?: number | undefined;
  /**
   * The certificate of the API server's authority, as PEM. Every namespace gets it in a ConfigMap, because pods mount that.
   * @default no such ConfigMap is written
   */
  rootCa?: string | undefined;
}

/** Runs the controllers while this process leads, until the signal aborts. */
export async function runControllers(options: ControllersOptions): Promise<void> {
  const { nodeGraceMs = defaultNodeGraceMs, rootCa } = options;
  const controllers = [
    deploymentController,
    replicaSetController,
    jobController,
    cronJobController,
    statefulSetController,
    daemonSetController,
    nodeHealthController(nodeGraceMs),
    evictionController,
    endpointSliceController,
    endpointsController,
    disruptionController,
    ...(rootCa === undefined ? [] : [rootCaController(rootCa)]),
  ];
  await runElected("tenure-controllers", controllers, options);
}
