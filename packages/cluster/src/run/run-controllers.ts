/** The controllers, on one replica at a time. */
import { deploymentController } from "../controllers/deployment/controller.ts";
import { replicaSetController } from "../controllers/replica-set/controller.ts";
import { type ElectedOptions, runElected } from "./run-elected.ts";

const controllers = [deploymentController, replicaSetController];

/** Runs the controllers while this process leads, until the signal aborts. */
export async function runControllers(options: ElectedOptions): Promise<void> {
  await runElected("tenure-controllers", controllers, options);
}
