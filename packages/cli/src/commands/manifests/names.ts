/** Names that several of the objects must agree on. */
import { defaultSliceName, electionLabel, electionLabelValue, roleLabel } from "@tenure/traffic/internal";
import type { CheckedOptions } from "./options.ts";

export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

/** Chosen by every pod of the Deployment, and by nothing else. */
export const podLabels = ({ name }: CheckedOptions) => ({ "app.kubernetes.io/name": name });

/** What the pods are born with, so that a leader finds all pods of its election before one of them takes part. */
export const templateLabels = (options: CheckedOptions) => ({
  ...podLabels(options),
  ...(options.traffic === "label" && {
    [electionLabel]: electionLabelValue(options.name),
    [roleLabel]: "standby",
  }),
});

/** The label by which a Service finds the leader; the leader puts it on its own pod. */
export const leaderLabels = (options: CheckedOptions) => ({
  ...podLabels(options),
  [roleLabel]: "leader",
});

/** The ConfigMap whose key `leader` names the pod that serves. */
export const configMapName = ({ name }: CheckedOptions) => `${name}-leader`;

/** The EndpointSlice that the leader keeps. */
export const sliceName = ({ name }: CheckedOptions) => defaultSliceName(name);

export const readyFilePath = "/tmp/ready";
