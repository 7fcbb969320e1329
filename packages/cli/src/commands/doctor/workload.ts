/** The parts of pods and workloads that the doctor reads. */

/** The metadata that every object has. */
export interface Labelled {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly {
      readonly kind: string;
      readonly name: string;
      readonly controller?: boolean;
    }[];
  };
}

export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly fieldRef?: { readonly fieldPath?: string } };
}

export interface Probe {
  readonly exec?: { readonly command?: readonly string[] };
  readonly httpGet?: { readonly path?: string };
}

export interface Container {
  readonly name: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly unknown[];
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly lifecycle?: { readonly preStop?: object };
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly shareProcessNamespace?: boolean;
  readonly hostNetwork?: boolean;
  readonly hostname?: string;
  readonly nodeName?: string;
  readonly volumes?: readonly {
    readonly projected?: { readonly sources?: readonly { readonly serviceAccountToken?: object }[] };
  }[];
}

export interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** A number of pods, or a percentage such as "25%". */
export type Amount = number | string;

export interface Workload extends Labelled {
  /** Deployment, StatefulSet, DaemonSet; Pod for a pod without any of these. */
  readonly kind?: string;
  readonly spec: {
    readonly replicas?: number;
    readonly selector?: Selector;
    readonly strategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly maxUnavailable?: Amount; readonly maxSurge?: Amount };
    };
    /** Of a StatefulSet or DaemonSet. */
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly maxUnavailable?: Amount };
    };
    readonly template: {
      readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
      readonly spec: PodSpec;
    };
  };
  readonly status?: { readonly desiredNumberScheduled?: number };
}

export function nameOf({ kind, metadata }: Workload): string {
  return `${kind} ${metadata.name}`;
}

/** As kubectl takes it: `deployment/billing`. */
export function resourceOf({ kind = "Deployment", metadata }: Workload): string {
  return `${kind.toLowerCase()}/${metadata.name}`;
}

/** Whether kubectl can patch and scale it. Other owners of pods are not read, so nothing is known about them. */
export function isKnown({ kind }: Workload): boolean {
  return kind === "Deployment" || kind === "StatefulSet" || kind === "DaemonSet";
}

export function replicasOf({ kind, spec, status }: Workload): number {
  // A DaemonSet has a replica on each of its nodes.
  return kind === "DaemonSet" ? (status?.desiredNumberScheduled ?? 2) : (spec.replicas ?? 1);
}

export function containersOf({ spec }: Workload): readonly Container[] {
  return containersOfPod(spec.template.spec);
}

export function containersOfPod({ initContainers = [], containers }: PodSpec): readonly Container[] {
  return [...initContainers, ...containers];
}

/** The number of pods. Percentages are rounded up, as for budgets and DaemonSets. */
export function amountOf(amount: Amount, replicas: number): number {
  return typeof amount === "number" ? amount : Math.ceil((Number.parseInt(amount, 10) * replicas) / 100);
}

/** Whether an identity looks like the name of a pod of this workload, with or without the suffix of client-go. */
export function namesPodOf({ kind, metadata }: Workload, identity: string): boolean {
  const name = metadata.name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const suffixes: Readonly<Record<string, string>> = {
    StatefulSet: "-\\d+",
    DaemonSet: "-[a-z0-9]{5}",
    Pod: "",
  };
  const suffix = suffixes[kind ?? ""] ?? "-[a-z0-9]{1,10}-[a-z0-9]{5}";
  return new RegExp(`^${name}${suffix}(_.*)?$`).test(identity);
}
