/** The resources of a container, as its environment and its files show them. */
import { parseQuantity } from "../../client/quantity.ts";
import type { NodePod, ResourceSelector } from "../pod.ts";

/** The value of `limits.cpu` or `requests.memory`, in units of the divisor, rounded up. A missing limit is what the node has. */
export function resourceValue(
  { spec }: NodePod,
  { containerName, resource, divisor }: ResourceSelector,
  owner: string,
  allocatable: Readonly<Record<string, string>>,
): string {
  const name = containerName ?? owner;
  const container = [...spec.containers, ...(spec.initContainers ?? [])].find((found) => found.name === name);
  const [list = "limits", kind = ""] = resource.split(/\.(.*)/);
  const { limits = {}, requests = {} } = container?.resources ?? {};
  const amount = list === "requests" ? (requests[kind] ?? "0") : (limits[kind] ?? allocatable[kind] ?? "0");
  const unit = parseQuantity(divisor && divisor !== "0" ? divisor : "1");
  // Without the rounding, 0.3 / 0.1 would be more than 3.
  return String(Math.ceil(Number((parseQuantity(amount) / unit).toFixed(6))));
}
