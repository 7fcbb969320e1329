/** Whether a replica is healthy: its election, and the watchdog over its child. */
import type { Health } from "@tenure/election";
import type { StatusSource } from "./source.ts";

export function healthOf({ election, supervisor }: StatusSource): Health {
  const health = election.health();
  const { child, watchdog } = supervisor?.status() ?? {};
  // A supervisor replaces its watchdog at once, or gives up leadership. If it can do neither, restarting the replica helps.
  const isUnguarded = watchdog?.running === false && child !== undefined && child.state !== "stopped";
  if (!health.healthy || !isUnguarded) return health;
  return { ...health, healthy: false, message: "the child runs without a watchdog" };
}
