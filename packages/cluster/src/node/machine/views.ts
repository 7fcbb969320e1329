/** Small questions about a pod's state. */
import type { NodeContainer } from "../pod.ts";
import type { PodState } from "./types.ts";

export function specIn({ pod }: PodState, name: string): NodeContainer {
  const { containers, initContainers = [] } = pod.spec;
  return [...initContainers, ...containers].find((container) => container.name === name) as NodeContainer;
}
