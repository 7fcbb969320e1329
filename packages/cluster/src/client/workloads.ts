/** The parts of workload objects that the controllers read and write. */
import type { Condition, KubeObject, LabelSelector, PodTemplate } from "./objects.ts";

export interface ReplicaSet extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly minReadySeconds?: number;
    readonly selector: LabelSelector;
    readonly template: PodTemplate;
  };
  readonly status?: ReplicaSetStatus;
}

export interface ReplicaSetStatus {
  readonly replicas: number;
  readonly fullyLabeledReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
}

export interface Deployment extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly selector: LabelSelector;
    readonly template: PodTemplate;
    readonly strategy?: {
      readonly type?: string;
      readonly rollingUpdate?: {
        readonly maxSurge?: number | string;
        readonly maxUnavailable?: number | string;
      };
    };
    readonly minReadySeconds?: number;
    readonly revisionHistoryLimit?: number;
    readonly paused?: boolean;
    readonly progressDeadlineSeconds?: number;
  };
  readonly status?: DeploymentStatus;
}

export interface DeploymentStatus {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly updatedReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly unavailableReplicas?: number;
  readonly collisionCount?: number;
  readonly conditions?: readonly Condition[];
}

export interface PodFailureRule {
  readonly action: string;
  readonly onExitCodes?: {
    readonly containerName?: string;
    readonly operator: string;
    readonly values: readonly number[];
  };
  readonly onPodConditions?: readonly { readonly type: string; readonly status?: string }[];
}

export interface Job extends KubeObject {
  readonly spec: {
    readonly parallelism?: number;
    readonly completions?: number;
    readonly completionMode?: string;
    readonly backoffLimit?: number;
    readonly backoffLimitPerIndex?: number;
    readonly maxFailedIndexes?: number;
    readonly podFailurePolicy?: { readonly rules: readonly PodFailureRule[] };
    readonly successPolicy?: {
      readonly rules: readonly { readonly succeededIndexes?: string; readonly succeededCount?: number }[];
    };
    readonly activeDeadlineSeconds?: number;
    readonly ttlSecondsAfterFinished?: number;
    readonly suspend?: boolean;
    readonly podReplacementPolicy?: string;
    readonly managedBy?: string;
    readonly selector?: LabelSelector;
    readonly template: PodTemplate;
  };
  readonly status?: JobStatus;
}

export interface JobStatus {
  readonly active?: number;
  readonly ready?: number;
  readonly terminating?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly startTime?: string;
  readonly completionTime?: string;
  readonly completedIndexes?: string;
  readonly failedIndexes?: string;
  /** Pods that have finished, but are not part of the counts yet. */
  readonly uncountedTerminatedPods?: {
    readonly succeeded?: readonly string[];
    readonly failed?: readonly string[];
  };
  readonly conditions?: readonly Condition[];
}

export interface StatefulSet extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly selector: LabelSelector;
    readonly template: PodTemplate;
    readonly serviceName?: string;
    readonly podManagementPolicy?: string;
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly partition?: number };
    };
    readonly revisionHistoryLimit?: number;
    readonly minReadySeconds?: number;
    readonly ordinals?: { readonly start?: number };
    readonly volumeClaimTemplates?: readonly KubeObject[];
  };
  readonly status?: StatefulSetStatus;
}

export interface StatefulSetStatus {
  readonly observedGeneration?: number;
  readonly replicas: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly currentReplicas?: number;
  readonly updatedReplicas?: number;
  readonly currentRevision?: string;
  readonly updateRevision?: string;
  readonly collisionCount?: number;
  readonly conditions?: readonly Condition[];
}

export interface ControllerRevision extends KubeObject {
  readonly data?: { readonly spec?: { readonly template?: PodTemplate } };
  readonly revision: number;
}

export interface PodDisruptionBudget extends KubeObject {
  readonly spec: {
    readonly minAvailable?: number | string;
    readonly maxUnavailable?: number | string;
    readonly selector?: LabelSelector;
  };
  readonly status?: PodDisruptionBudgetStatus;
}

export interface PodDisruptionBudgetStatus {
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly disruptionsAllowed: number;
  readonly expectedPods: number;
  /** Pods whose eviction the API has allowed, and when. */
  readonly disruptedPods?: Readonly<Record<string, string>>;
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
}

export interface DaemonSet extends KubeObject {
  readonly spec: {
    readonly selector: LabelSelector;
    readonly template: PodTemplate;
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: {
        readonly maxUnavailable?: number | string;
        readonly maxSurge?: number | string;
      };
    };
    readonly minReadySeconds?: number;
    readonly revisionHistoryLimit?: number;
  };
  readonly status?: DaemonSetStatus;
}

export interface DaemonSetStatus {
  readonly currentNumberScheduled: number;
  readonly numberMisscheduled: number;
  readonly desiredNumberScheduled: number;
  readonly numberReady: number;
  readonly observedGeneration?: number;
  readonly updatedNumberScheduled?: number;
  readonly numberAvailable?: number;
  readonly numberUnavailable?: number;
  readonly collisionCount?: number;
  readonly conditions?: readonly Condition[];
}

export interface CronJob extends KubeObject {
  readonly spec: {
    readonly schedule: string;
    readonly timeZone?: string;
    readonly concurrencyPolicy?: string;
    readonly suspend?: boolean;
    readonly startingDeadlineSeconds?: number;
    readonly successfulJobsHistoryLimit?: number;
    readonly failedJobsHistoryLimit?: number;
    readonly jobTemplate: { readonly metadata?: Partial<KubeObject["metadata"]>; readonly spec: Job["spec"] };
  };
  readonly status?: CronJobStatus;
}

export interface CronJobStatus {
  readonly active?: readonly {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion?: string;
  }[];
  readonly lastScheduleTime?: string;
  readonly lastSuccessfulTime?: string;
}
