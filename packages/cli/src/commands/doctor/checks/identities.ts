/** Finds replicas with the same identity. Each would take the renewals of the others for its own. Pure. */
import type { Facts } from "../facts.ts";
import { fixedIdentity } from "../flags.ts";
import { livePodsOf, podsOnHost } from "../pods.ts";
import { finding, type Report } from "../report.ts";
import { containersOf, containersOfPod, nameOf, replicasOf, type Workload } from "../workload.ts";

export function checkIdentities(workloads: readonly Workload[], facts: Facts): Report[] {
  const { snapshot, about } = facts;
  const byIdentity = new Map<string, string[]>();
  const add = (identity: string | undefined, owner: string, times = 1) => {
    if (identity === undefined || times === 0) return;
    byIdentity.set(identity, [...(byIdentity.get(identity) ?? []), ...Array<string>(times).fill(owner)]);
  };
  const holder = facts.state?.record.holderIdentity ?? "";
  for (const workload of workloads) {
    const own = livePodsOf(workload, snapshot.pods);
    if (own.length === 0) {
      add(containersOf(workload).map(fixedIdentity).find(Boolean), nameOf(workload), replicasOf(workload));
    }
    for (const { spec, metadata } of own)
      add(containersOfPod(spec).map(fixedIdentity).find(Boolean), `pod ${metadata.name}`);
    // With hostNetwork, the host name is that of the node. client-go's usual identity has a random part as well.
    for (const pod of holder.includes("_") ? [] : podsOnHost(own, holder))
      add(holder, `pod ${pod.metadata.name}`);
  }
  return [...byIdentity]
    .filter(([, owners]) => owners.length > 1)
    .map(([identity, owners]) =>
      finding(
        "identity",
        `${owners.length} replicas have the identity "${identity}" (${[...new Set(owners)].join(", ")}): each takes the lease of the others for its own`,
        [
          "give each its own identity:",
          "env:",
          "  - name: POD_NAME",
          "    valueFrom: {fieldRef: {fieldPath: metadata.name}}",
        ].join("\n"),
        about,
      ),
    );
}
