/** The resources of a container, as its environment and its files show them. */
import type { NodePod, ResourceSelector } from "../pod.ts";

const decimal: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
};

/** The value of a quantity such as 500m or 1.5Gi. */
export function parseQuantity(text: string): number {
  const [, digits = "0", suffix = ""] = /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([A-Za-z]*)$/.exec(text.trim()) ?? [];
  const power = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].indexOf(suffix) + 1;
  return Number(digits) * (power > 0 ? 1024 ** power : (decimal[suffix] ?? 1));
}

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
