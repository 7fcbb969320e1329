/** Names that several of the objects must agree on. */
import { defaultSliceName, electionLabel, electionLabelValue, roleLabel } from "@tenure/traffic/internal";
import type { CheckedOptions } from "./options.ts";

export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    /** Absent for an object of the whole cluster. */
    readonly namespace?: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

/** The labels that select the pods of the Deployment, and nothing else. */
export const podLabels = ({ name }: CheckedOptions) => ({ "app.kubernetes.io/name": name });

/** The labels of new pods. With them a leader finds all pods of its election, even those that have not started tenure yet. */
export const templateLabels = (options: CheckedOptions) => ({
  ...podLabels(options),
  ...(options.traffic === "label" && {
    [electionLabel]: electionLabelValue(options.name),
    [roleLabel]: "standby",
  }),
});

/** The labels by which a Service selects the leader. The leader adds the role to its own pod. */
export const leaderLabels = (options: CheckedOptions) => ({
  ...podLabels(options),
  [roleLabel]: "leader",
});

/** The ConfigMap whose key `leader` names the leader. */
export const configMapName = ({ name }: CheckedOptions) => `${name}-leader`;

/** The EndpointSlice that the leader writes. */
export const sliceName = ({ name }: CheckedOptions) => defaultSliceName(name);

export const readyFilePath = "/tmp/ready";
