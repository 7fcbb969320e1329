/** Finds the lock of a candidate: in Kubernetes, or in the store that the URL of --lock names. */
import { nextTurn, systemRandom } from "@tenure/base";
import { uniqueIdentity } from "@tenure/core";
import type { Lock } from "@tenure/election";
import { type Connection, type ConnectOptions, connect, newClient } from "../cluster/connect.ts";
import type { Platform } from "../platform.ts";
import type { ConnectionFlags } from "../settings/connection-options.ts";
import type { ElectionFlags } from "../settings/election-options.ts";
import type { TrafficFlags } from "../settings/traffic-options.ts";
import { isLockUrl } from "../stores/lock-url.ts";
import { createLock, identityFrom } from "./create-election.ts";

export interface CandidateConnection {
  readonly lock: Lock;
  /** `NAMESPACE/NAME` of a lock in Kubernetes, the name alone of one in a store. */
  readonly electionName: string;
  /** Undefined if neither the lock nor the traffic needs Kubernetes. */
  readonly cluster: Connection | undefined;
}

/** Finds the lock. Connects to the cluster ahead of the first request, but sends nothing to a cluster or a store. */
export async function connectCandidate(
  flags: ElectionFlags & ConnectionFlags & TrafficFlags,
  platform: Platform,
  options: ConnectOptions = {},
): Promise<CandidateConnection> {
  const { leaseLockName: name = "" } = flags;
  if (isLockUrl(flags.lock)) {
    const { openStoreLock } = await import("../stores/open-store.ts");
    const cluster = routesInKubernetes(flags) ? await connect(flags, platform, options) : undefined;
    return { lock: await openStoreLock(flags, name, platform), electionName: name, cluster };
  }
  const cluster = await connect(flags, platform, options);
  const client = newClient(cluster.config, platform, "tenure leader-election");
  // The handshake takes as long as what is left to prepare, which does not let go of the event loop: it connects in the first
  // turn, and says hello in the second.
  client.connectAhead();
  await nextTurn();
  await nextTurn();
  return {
    lock: createLock(flags, cluster, client),
    electionName: `${cluster.namespace}/${name}`,
    cluster,
  };
}

/**
 * A candidate without --id and POD_NAME is named for its host. If it changes its own pod, it needs the real name of the pod, so
 * the missing POD_NAME is reported instead.
 */
export function withIdentity<Flags extends ElectionFlags & TrafficFlags>(
  flags: Flags,
  platform: Platform,
): Flags {
  if (flags.id !== undefined || identityFrom(flags, platform) || routesInKubernetes(flags)) return flags;
  return { ...flags, id: uniqueIdentity(platform.hostName(), systemRandom()) };
}

function routesInKubernetes({ label, service, leaderConfigmap }: TrafficFlags): boolean {
  return Boolean(label) || service !== undefined || leaderConfigmap !== undefined;
}
