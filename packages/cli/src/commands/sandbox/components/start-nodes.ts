/** Starts the nodes of `tenure sandbox --nodes`. */
import { CliError } from "../../../errors.ts";

export interface NodesOptions {
  /** How many. Their names are node-1, node-2, … */
  readonly count: number;
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** Stops the nodes and their pods. */
  readonly signal: AbortSignal;
}

export interface RunningNodes {
  /** Resolves when the nodes and their pods have stopped. */
  readonly stopped: Promise<void>;
}

/** Resolves when the nodes are registered. */
export async function startNodes({ count }: NodesOptions): Promise<RunningNodes> {
  if (count > 0) {
    throw new CliError(
      "Failed",
      `Cannot start ${count} nodes: this version has no node agent. Pass --nodes 0, and register nodes through the API`,
    );
  }
  return { stopped: Promise.resolve() };
}
