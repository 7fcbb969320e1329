/**
 * Writes the name of the leader into a ConfigMap, for pods that read it from a mounted file. Guarantees: at most one name,
 * and never the name of an earlier term after a later term wrote.
 * Not promised: that all pods see a change at the same time. The kubelet updates mounted files within about a minute, and a
 * pod may read the old name until then. Where that matters, use the pod label or an EndpointSlice.
 */

import { quote, systemClock } from "@tenure/base";
import { nameProblem } from "@tenure/kube/internal";
import { rejectProblems, TrafficError } from "../errors.ts";
import type { Gate } from "../gate.ts";
import { electionLabel, electionLabelValue } from "../names.ts";
import { type FencedKind, FencedObject } from "./fenced-object.ts";
import { KubeGate, type KubeGateOptions } from "./kube-gate.ts";
import type { KubeObject } from "./objects.ts";

export interface LeaderConfigMapOptions extends KubeGateOptions {
  /** The name of this pod, which the gate publishes. */
  readonly pod: string;
  /** The name of the election. Two elections cannot share a ConfigMap. */
  readonly election: string;
  /** @default "leader-config" */
  readonly name?: string;
  /** @default "leader" */
  readonly key?: string;
}

export const defaultConfigMap = "leader-config";
export const defaultConfigMapKey = "leader";

export function leaderConfigMap(options: LeaderConfigMapOptions): Gate {
  const { namespace, pod, name = defaultConfigMap, key = defaultConfigMapKey } = options;
  rejectProblems("publish the leader", [
    nameProblem("namespace", namespace),
    nameProblem("pod", pod),
    nameProblem("the name of the ConfigMap", name),
    /^[-._a-zA-Z0-9]{1,253}$/.test(key)
      ? undefined
      : {
          field: "key",
          rule: "must be at most 253 letters, digits, '-', '_' and '.'",
          value: quote(key),
        },
  ]);
  const clock = options.clock ?? systemClock;
  const kind = configMapKind({ namespace, pod, name, key, election: options.election });
  return new KubeGate(`ConfigMap ${name}`, new FencedObject(kind, () => clock.now().wallMs), options);
}

function configMapKind(options: {
  namespace: string;
  pod: string;
  name: string;
  key: string;
  election: string;
}): FencedKind {
  const { namespace, pod, name, key } = options;
  const what = `ConfigMap ${namespace}/${name}`;
  const collection = `/api/v1/namespaces/${namespace}/configmaps`;
  const election = electionLabelValue(options.election);
  const dataOf = (object: KubeObject) => (object.data ?? {}) as Record<string, string>;
  return {
    what,
    collection,
    path: `${collection}/${name}`,
    accept(object) {
      const owner = object.metadata.labels?.[electionLabel];
      if (owner !== undefined && owner !== election) {
        throw new TrafficError(
          "Taken",
          `Cannot publish the leader in ${what}: it belongs to the election ${owner} (label ${electionLabel}). Use another ConfigMap for this election.`,
        );
      }
    },
    blank: () => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace } }),
    fill: (object, isNamed) => ({
      ...object,
      metadata: {
        ...object.metadata,
        labels: { ...object.metadata.labels, [electionLabel]: election },
      },
      data: { ...dataOf(object), [key]: isNamed ? pod : "" },
    }),
    isEmpty: (object) => (dataOf(object)[key] ?? "") === "",
    isFilled: (object) => dataOf(object)[key] === pod,
  };
}
