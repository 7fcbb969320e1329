/** What a pod requests. */
import type { Container, Pod } from "../client/objects.ts";
import { thousandths } from "../client/quantity.ts";

/** Amounts in thousandths, by the name of the resource. */
export type Amounts = ReadonlyMap<string, number>;

/**
 * The most that the pod needs at any time. Containers and sidecars run together; each init container runs with the sidecars that
 * were started before it.
 */
export function podRequests({ spec }: Pod): Amounts {
  const sidecars = new Map<string, number>();
  const starting = new Map<string, number>();
  for (const container of spec.initContainers ?? []) {
    const own = requestsOf(container);
    if (container.restartPolicy === "Always") addTo(sidecars, own);
    const together = container.restartPolicy === "Always" ? sidecars : sumOf([sidecars, own]);
    for (const [name, amount] of together) starting.set(name, Math.max(starting.get(name) ?? 0, amount));
  }
  const running = sumOf([sidecars, ...spec.containers.map(requestsOf)]);
  for (const [name, amount] of starting) running.set(name, Math.max(running.get(name) ?? 0, amount));
  addTo(running, amountsOf(spec.overhead));
  return running;
}

export function amountsOf(quantities: Readonly<Record<string, string>> = {}): Map<string, number> {
  return new Map(Object.entries(quantities).map(([name, quantity]) => [name, thousandths(quantity)]));
}

export function addTo(total: Map<string, number>, amounts: Amounts): void {
  for (const [name, amount] of amounts) total.set(name, (total.get(name) ?? 0) + amount);
}

function requestsOf({ resources }: Container): Amounts {
  return amountsOf(resources?.requests);
}

function sumOf(all: readonly Amounts[]): Map<string, number> {
  const total = new Map<string, number>();
  for (const amounts of all) addTo(total, amounts);
  return total;
}
