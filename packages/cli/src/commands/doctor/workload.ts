/**
 * What the manifest of a workload shows about its part in an election: flags, probes, identity. This reads the Deployment, not
 * the running process, so it does not see what the image does by itself.
 */
import { defaultReadyFile } from "@tenure/traffic/internal";

/** The metadata that every object has. */
export interface Labelled {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
}

interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly fieldRef?: { readonly fieldPath?: string } };
}

export interface Container {
  readonly name: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly unknown[];
  readonly readinessProbe?: {
    readonly exec?: { readonly command?: readonly string[] };
    readonly httpGet?: { readonly path?: string };
  };
  readonly lifecycle?: { readonly preStop?: object };
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly serviceAccountName?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly shareProcessNamespace?: boolean;
}

export interface Workload extends Labelled {
  readonly kind?: string;
  readonly spec: {
    readonly replicas?: number;
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly strategy?: {
      readonly type?: string;
      readonly rollingUpdate?: {
        readonly maxUnavailable?: number | string;
        readonly maxSurge?: number | string;
      };
    };
    readonly template: {
      readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
      readonly spec: PodSpec;
    };
  };
}

export function nameOf({ kind, metadata }: Workload): string {
  return `${kind} ${metadata.name}`;
}

export function containersOf({ spec }: Workload): readonly Container[] {
  return containersOfPod(spec.template.spec);
}

export function containersOfPod({ initContainers = [], containers }: PodSpec): readonly Container[] {
  return [...initContainers, ...containers];
}

/** The arguments of tenure. Those after a double dash belong to the child. */
function wordsOf({ command = [], args = [] }: Container): readonly string[] {
  const words = [...command, ...args];
  const end = words.indexOf("--");
  return end === -1 ? words : words.slice(0, end);
}

/** The value of a flag of tenure, from the arguments or from its environment variable. */
export function flagOf(container: Container, flag: string): string | undefined {
  const words = wordsOf(container);
  for (const [index, word] of words.entries()) {
    const [, value] = new RegExp(`^--?${flag}=(.*)$`).exec(word) ?? [];
    if (value !== undefined) return value;
    if (word === `--${flag}` || word === `-${flag}`) return words[index + 1];
  }
  return envOf(container, `TENURE_${flag.replaceAll("-", "_").toUpperCase()}`)?.value;
}

export function hasFlag(container: Container, flag: string): boolean {
  const variable = envOf(container, `TENURE_${flag.replaceAll("-", "_").toUpperCase()}`)?.value;
  return (
    wordsOf(container).some((word) => word === `--${flag}` || word === `--${flag}=true`) ||
    variable === "true"
  );
}

function envOf({ env = [] }: Container, name: string): EnvVar | undefined {
  return env.find((variable) => variable.name === name);
}

/** The names of the elections in which its containers take part, according to their flags. */
export function electionsOf(workload: Workload): string[] {
  const names = containersOf(workload).map((container) => flagOf(container, "lease-lock-name"));
  return [...new Set(names.filter((name) => name !== undefined))];
}

/** The containers that take part in this election; all of them if no flag names it. */
export function candidatesOf(workload: Workload, election: string): readonly Container[] {
  const containers = containersOf(workload);
  const named = containers.filter((container) => flagOf(container, "lease-lock-name") === election);
  return named.length > 0 ? named : containers;
}

export function isRunByTenure(container: Container): boolean {
  return ["run", "sidecar", "elect"].some((command) => runsCommand(container, command));
}

/** Whether the container runs this command of tenure, according to its first words. */
export function runsCommand(container: Container, command: string): boolean {
  return wordsOf(container).slice(0, 3).includes(command);
}

/** The identity that all replicas would share, if the manifest sets a fixed one. */
export function fixedIdentity(container: Container): string | undefined {
  const given = flagOf(container, "id") ?? envOf(container, "POD_NAME")?.value;
  // Kubernetes replaces $(POD_NAME) in each pod, and a shell replaces $POD_NAME.
  return given === undefined || given.includes("$") ? undefined : given;
}

export function hasIdentity(container: Container): boolean {
  return (
    flagOf(container, "id") !== undefined ||
    envOf(container, "POD_NAME") !== undefined ||
    envOf(container, "TENURE_ID") !== undefined ||
    (container.envFrom?.length ?? 0) > 0
  );
}

/** Why only the leader can be Ready; undefined if standbys can be too. */
export function leaderOnlyReadiness(workload: Workload): string | undefined {
  const containers = containersOf(workload);
  const readyFile =
    containers.map((container) => flagOf(container, "ready-file")).find(Boolean) ?? defaultReadyFile;
  const mode = containers.map((container) => flagOf(container, "status-ready")).find(Boolean);
  for (const { readinessProbe } of containers) {
    const typed = readinessProbe?.exec?.command?.join(" ") ?? "";
    if (typed.includes(readyFile)) return `its readiness probe checks ${readyFile}`;
    if (/\btenure\b.*\bprobe\b.*--(lease|contains)/.test(typed)) return `its readiness probe is "${typed}"`;
    const path = readinessProbe?.httpGet?.path ?? "";
    if (/[?&]mode=(leader|child-ready)\b/.test(path)) return `its readiness probe requests ${path}`;
    if (/^\/readyz\b/.test(path) && (mode === "leader" || mode === "child-ready")) {
      return `its readiness probe requests ${path}, which succeeds only on the leader because of --status-ready=${mode}`;
    }
  }
  return undefined;
}

/** Whether an identity looks like the name of a pod of this workload, with or without the suffix of client-go. */
export function namesPodOf({ kind, metadata }: Workload, identity: string): boolean {
  const name = metadata.name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const pod = kind === "StatefulSet" ? `${name}-\\d+` : `${name}-[a-z0-9]{1,10}-[a-z0-9]{5}`;
  return new RegExp(`^${pod}(_.*)?$`).test(identity);
}
