/** @tenure/cluster: controllers and a scheduler that work through any Kubernetes API. */

export {
  type NodeOptions,
  type NodesOptions,
  type RunningNodes,
  startNode,
  startNodes,
} from "./node/node.ts";
export { type ControllersOptions, runControllers } from "./run/run-controllers.ts";
export type { ElectedOptions } from "./run/run-elected.ts";
export { runScheduler } from "./run/run-scheduler.ts";
