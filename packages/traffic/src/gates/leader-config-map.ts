/**
 * Publishes the elected leader into a ConfigMap, for pods that read it from a mounted file: the controller in place of the
 * person who edits it. Upholds: at most one name, never that of an earlier term after a later one wrote.
 * Not promised: that all pods learn of it at once. The kubelet updates mounted files within about a minute, so a pod may
 * read the old name for so long: prefer a label or an EndpointSlice where that matters.
 */
import { TrafficError } from "../errors.ts";
import type { Gate } from "../gate.ts";
import { electionLabel, electionLabelValue, nameProblem } from "../names.ts";
import { systemClock } from "../platform.ts";
import { type FencedKind, FencedObject } from "./fenced-object.ts";
import { KubeGate, type KubeGateOptions } from "./kube-gate.ts";
import type { KubeObject } from "./objects.ts";

export interface LeaderConfigMapOptions extends KubeGateOptions {
  /** The name to publish: that of this pod. */
  readonly pod: string;
  /** The election's name: two elections must not share a ConfigMap. */
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
  const problems = [
    nameProblem("namespace", namespace),
    nameProblem("pod", pod),
    nameProblem("the name of the ConfigMap", name),
    /^[-._a-zA-Z0-9]{1,253}$/.test(key)
      ? undefined
      : `key must be letters, digits, '-', '_' and '.': ${JSON.stringify(key)}`,
  ].filter((problem) => problem !== undefined);
  if (problems.length > 0)
    throw new TrafficError("InvalidOptions", `Cannot publish the leader: ${problems.join("; ")}.`);
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
          `Cannot publish the leader in ${what}: the election ${owner} does that (label ${electionLabel}). Give this one another ConfigMap.`,
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
    isFilled: (object) => dataOf(object)[key] === pod,
  };
}
