/**
 * The state of one pod on its node, the events that change it, and the effects that follow. The machine decides everything; a
 * shell starts processes, runs probes and writes the status.
 */
import type { Instant } from "@tenure/base";
import type { Condition } from "../../client/objects.ts";
import type { NodePod } from "../pod.ts";

/** A sidecar is an init container with restartPolicy Always: it keeps running beside the others. */
export type Role = "init" | "sidecar" | "app";

export const probeKinds = ["startup", "liveness", "readiness"] as const;
export type ProbeKind = (typeof probeKinds)[number];

export interface ProbeState {
  /** When to probe next, on the monotonic clock. */
  readonly dueMs: number;
  readonly isInFlight: boolean;
  /** The result that counts. Undefined before there is one. */
  readonly passed: boolean | undefined;
  /** Equal results in a row. */
  readonly successes: number;
  readonly failures: number;
}

export interface Ended {
  readonly attempt: number;
  readonly exitCode: number;
  readonly signal?: number | undefined;
  readonly reason: string;
  readonly message?: string | undefined;
  readonly startedWallMs?: number | undefined;
  readonly finishedWallMs: number;
  readonly finishedMonoMs: number;
}

interface Stopping {
  /** A preStop hook runs before the container gets its signal. */
  readonly isHookRunning: boolean;
  /** When the time of the container is up. */
  readonly deadlineMs: number;
}

export interface Running {
  readonly type: "running";
  readonly attempt: number;
  readonly startedWallMs: number;
  readonly startedMonoMs: number;
  /** Until the postStart hook has ended, the container does not count as running. */
  readonly isHookRunning: boolean;
  readonly previous?: Ended | undefined;
  readonly stopping?: Stopping | undefined;
  readonly probes: Readonly<Partial<Record<ProbeKind, ProbeState>>>;
}

type Run =
  /** Never started. `retryMs`: when to try again after a failure. */
  | {
      readonly type: "waiting";
      readonly reason?: string;
      readonly message?: string;
      readonly retryMs?: number;
    }
  | { readonly type: "starting"; readonly attempt: number; readonly previous?: Ended | undefined }
  | Running
  /** `retryMs`: in the crash back-off until then. */
  | {
      readonly type: "ended";
      readonly ended: Ended;
      readonly retryMs?: number;
      readonly message?: string;
      readonly reason?: string;
    };

export interface BackoffEntry {
  readonly delayMs: number;
  readonly setMs: number;
}

export interface ContainerState {
  readonly name: string;
  readonly role: Role;
  readonly run: Run;
  readonly restartCount: number;
  readonly last?: Ended | undefined;
  readonly crashes?: BackoffEntry | undefined;
  readonly pulls?: BackoffEntry | undefined;
}

export interface Ending {
  readonly why: "deleted" | "completed" | "deadline";
  /** When the grace period is over, on the monotonic clock. */
  readonly deadlineMs: number;
}

export interface PodState {
  readonly pod: NodePod;
  /** When this agent first saw the pod. */
  readonly since: Instant;
  readonly podIP: string;
  readonly hostIP: string;
  readonly setup: "none" | "running" | "done" | "failed";
  /** When to try the setup again. */
  readonly setupRetryMs?: number | undefined;
  /** In the order of the spec, init containers first. */
  readonly containers: readonly ContainerState[];
  /** Counts the starts of all containers. */
  readonly attempts: number;
  readonly ending?: Ending | undefined;
  /** No process runs any more, and none will be started. */
  readonly isOver: boolean;
  /** The folders of the pod are removed. */
  readonly cleanup: "none" | "running" | "done";
  readonly isRemoved: boolean;
  readonly conditions: readonly Condition[];
}

export type StartFailure =
  /** The image is unknown. */
  | "ErrImagePull"
  /** Something that the container refers to does not exist. */
  | "CreateContainerConfigError"
  /** The program cannot be started. */
  | "StartError";

export type PodEvent =
  | { readonly type: "pod"; readonly pod: NodePod }
  /** The pod is gone from the API. Its processes must not outlive it. */
  | { readonly type: "vanished" }
  | { readonly type: "set-up" }
  | { readonly type: "setup-failed"; readonly message: string }
  | { readonly type: "started"; readonly container: string; readonly attempt: number }
  | {
      readonly type: "start-failed";
      readonly container: string;
      readonly attempt: number;
      readonly reason: StartFailure;
      readonly message: string;
    }
  | {
      readonly type: "exited";
      readonly container: string;
      readonly attempt: number;
      readonly exitCode: number;
      readonly signal?: number | undefined;
      readonly message?: string | undefined;
    }
  | {
      readonly type: "hook-ended";
      readonly container: string;
      readonly attempt: number;
      readonly hook: "postStart" | "preStop";
      /** Undefined if it succeeded. */
      readonly failure?: string | undefined;
    }
  | {
      readonly type: "probed";
      readonly container: string;
      readonly attempt: number;
      readonly probe: ProbeKind;
      readonly failure?: string | undefined;
    }
  | { readonly type: "cleaned-up" }
  | { readonly type: "tick" };

export type PodEffect =
  /** Creates the folders and the volumes of the pod. */
  | { readonly type: "set-up" }
  | {
      readonly type: "start";
      readonly container: string;
      readonly attempt: number;
      readonly restartCount: number;
    }
  | {
      readonly type: "hook";
      readonly container: string;
      readonly attempt: number;
      readonly hook: "postStart" | "preStop";
      readonly timeoutMs: number;
    }
  | {
      readonly type: "probe";
      readonly container: string;
      readonly attempt: number;
      readonly probe: ProbeKind;
      readonly timeoutMs: number;
    }
  /** SIGTERM now, SIGKILL after the time. A second one can only shorten the time. */
  | { readonly type: "stop"; readonly container: string; readonly attempt: number; readonly graceMs: number }
  | {
      readonly type: "report";
      readonly level: "Normal" | "Warning";
      readonly reason: string;
      readonly message: string;
      readonly container?: string | undefined;
    }
  | { readonly type: "clean-up" }
  /** Deletes the pod from the API, after the last status is written. */
  | { readonly type: "remove" };

export interface Step {
  readonly state: PodState;
  readonly effects: readonly PodEffect[];
}
