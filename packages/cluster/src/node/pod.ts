/** The parts of a pod that a node agent reads, beyond those that other components read. */
import type { Container, KubeObject, Pod, PodSpec, PodStatus } from "../client/objects.ts";

interface HttpGetAction {
  readonly path?: string;
  readonly port: number | string;
  readonly host?: string;
  readonly scheme?: string;
  readonly httpHeaders?: readonly { readonly name: string; readonly value: string }[];
}

export interface Handler {
  readonly exec?: { readonly command?: readonly string[] };
  readonly httpGet?: HttpGetAction;
  readonly tcpSocket?: { readonly port: number | string; readonly host?: string };
  readonly sleep?: { readonly seconds: number };
}

export interface Probe extends Handler {
  readonly grpc?: { readonly port: number; readonly service?: string };
  readonly initialDelaySeconds?: number;
  readonly timeoutSeconds?: number;
  readonly periodSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
  readonly terminationGracePeriodSeconds?: number;
}

interface KeySelector {
  readonly name?: string;
  readonly key: string;
  readonly optional?: boolean;
}

interface FieldSelector {
  readonly fieldPath: string;
}

export interface ResourceSelector {
  readonly containerName?: string;
  readonly resource: string;
  readonly divisor?: string;
}

export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly fieldRef?: FieldSelector;
    readonly resourceFieldRef?: ResourceSelector;
    readonly configMapKeyRef?: KeySelector;
    readonly secretKeyRef?: KeySelector;
  };
}

interface EnvFrom {
  readonly prefix?: string;
  readonly configMapRef?: { readonly name?: string; readonly optional?: boolean };
  readonly secretRef?: { readonly name?: string; readonly optional?: boolean };
}

interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string;
  readonly readOnly?: boolean;
}

export interface KeyToPath {
  readonly key: string;
  readonly path: string;
  readonly mode?: number;
}

export interface DownwardItem {
  readonly path: string;
  readonly mode?: number;
  readonly fieldRef?: FieldSelector;
  readonly resourceFieldRef?: ResourceSelector;
}

interface ObjectSource {
  readonly items?: readonly KeyToPath[];
  readonly optional?: boolean;
}

interface ConfigMapSource extends ObjectSource {
  readonly name?: string;
}

export interface ProjectedSource {
  readonly configMap?: ConfigMapSource;
  readonly secret?: ConfigMapSource;
  readonly downwardAPI?: { readonly items?: readonly DownwardItem[] };
  readonly serviceAccountToken?: {
    readonly audience?: string;
    readonly expirationSeconds?: number;
    readonly path: string;
  };
}

export interface Volume {
  readonly name: string;
  readonly emptyDir?: object;
  readonly hostPath?: { readonly path: string; readonly type?: string };
  readonly configMap?: ConfigMapSource & { readonly defaultMode?: number };
  readonly secret?: ObjectSource & { readonly secretName?: string; readonly defaultMode?: number };
  readonly downwardAPI?: { readonly items?: readonly DownwardItem[]; readonly defaultMode?: number };
  readonly projected?: { readonly sources?: readonly ProjectedSource[]; readonly defaultMode?: number };
}

export interface NodeContainer extends Container {
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly workingDir?: string;
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly EnvFrom[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly lifecycle?: { readonly postStart?: Handler; readonly preStop?: Handler };
  readonly terminationMessagePath?: string;
  readonly terminationMessagePolicy?: string;
  readonly stdin?: boolean;
  readonly stdinOnce?: boolean;
  readonly tty?: boolean;
}

export interface NodePodSpec extends PodSpec {
  readonly containers: readonly NodeContainer[];
  readonly initContainers?: readonly NodeContainer[];
  readonly volumes?: readonly Volume[];
  readonly activeDeadlineSeconds?: number;
  readonly serviceAccountName?: string;
  readonly enableServiceLinks?: boolean;
  readonly hostAliases?: readonly { readonly ip: string; readonly hostnames?: readonly string[] }[];
  readonly readinessGates?: readonly { readonly conditionType: string }[];
}

export interface TerminatedState {
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly startedAt?: string | null;
  readonly finishedAt?: string;
  readonly containerID?: string;
}

export interface ContainerStateStatus {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: string };
  readonly terminated?: TerminatedState;
}

export interface ContainerStatus {
  readonly name: string;
  readonly state?: ContainerStateStatus;
  readonly lastState?: ContainerStateStatus;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly image: string;
  readonly imageID: string;
  readonly containerID?: string;
  readonly started?: boolean;
}

export interface NodePodStatus extends PodStatus {
  readonly observedGeneration?: number;
  readonly hostIP?: string;
  readonly hostIPs?: readonly { readonly ip: string }[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
}

export interface NodePod extends Pod {
  readonly spec: NodePodSpec;
  readonly status?: NodePodStatus;
}

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

export interface Secret extends KubeObject {
  /** In base64. */
  readonly data?: Readonly<Record<string, string>>;
}
