import { systemClock, systemRandom } from "@tenure/base";
import type { LockView } from "@tenure/core";
import type { KubeObject, ObjectKind } from "./object-kind.ts";

interface EventFacts {
  readonly kind: ObjectKind;
  readonly namespace: string;
  readonly name: string;
  readonly message: string;
  readonly view: LockView | undefined;
}

/** A Kubernetes Event about the lock, with the fields that client-go's recorder writes. */
export function eventFor({ kind, namespace, name, message, view }: EventFacts): KubeObject {
  const now = new Date(systemClock.now().wallMs).toISOString().replace(/\.\d+/, "");
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: `${name}.${randomHex()}${randomHex()}`, namespace },
    involvedObject: {
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      namespace,
      name,
      ...(view && { uid: view.uid, resourceVersion: view.version }),
    },
    type: "Normal",
    reason: "LeaderElection",
    message,
    source: { component: "tenure" },
    reportingComponent: "tenure",
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  };
}

/** Eight hexadecimal digits. */
function randomHex(): string {
  return Math.floor(systemRandom() * 2 ** 32)
    .toString(16)
    .padStart(8, "0");
}
