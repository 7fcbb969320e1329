/** How the containers of a node are separated from each other and from the machine. */
import type { PodNetwork } from "../network/pod-network.ts";

export interface Mount {
  /** A folder or a file of this machine. */
  readonly source: string;
  /** Where the container finds it. */
  readonly target: string;
  readonly readOnly: boolean;
}

/** What one container needs. */
export interface ContainerPlan {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir: string | undefined;
  /** The folder of the image, if it has one. */
  readonly imageFolder: string | undefined;
  readonly mounts: readonly Mount[];
  readonly hostname: string;
  /** The address of the pod in the cluster. */
  readonly podIP: string;
  /** A folder for this container alone. It exists. */
  readonly folder: string;
}

/** A program to start on this machine. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
}

export interface Isolation {
  readonly mode: "none" | "mounts" | "network";
  /** One sentence for people: what containers share. */
  readonly shared: string;
  /** The network of the pods, if they have one of their own. */
  readonly network?: PodNetwork;
  /** The form of a cluster address that the processes of a pod can use. */
  addressInPod(address: string): string;
  prepare(plan: ContainerPlan): Promise<Launch>;
  /** The process of the container itself. @param pid the process that was launched */
  mainProcess(pid: number): number | undefined;
  /** Runs another program in a container that runs. */
  enter(plan: ContainerPlan, pid: number, argv: readonly string[]): Launch;
}
