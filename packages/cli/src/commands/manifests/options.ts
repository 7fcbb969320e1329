/**
 * What manifests are made from: the options, their defaults, and every problem with them at once. What cannot work is
 * refused here, before it is in a cluster.
 */
import { CliError } from "../../errors.ts";
import { type Amount, isAmount, rolloutDeadlock, type Strategy } from "./rollout.ts";

/** Who is reached: every Ready replica, or the leader alone, by one of four ways. */
export const trafficModes = ["none", "ready-file", "label", "endpointslice", "configmap"] as const;
export type TrafficMode = (typeof trafficModes)[number];

/** Who runs the election: `tenure run` around the program, `tenure sidecar` beside it, or the program itself. */
export const modes = ["run", "sidecar", "library"] as const;
export type Mode = (typeof modes)[number];

export interface ManifestOptions {
  /** Of all the objects, and of the lease. */
  readonly name: string;
  readonly namespace: string;
  /** Mode `run`: an image with tenure as its entry point. Otherwise the application's. */
  readonly image: string;
  /** @default 3 */
  readonly replicas?: number;
  /** @default "none" */
  readonly traffic?: TrafficMode;
  /** @default "run" */
  readonly mode?: Mode;
  /** Mode `run`: what the leader runs. Otherwise the command of the container. @default the image's own */
  readonly command?: readonly string[];
  /** Where the application listens. @default it does not: there is no Service */
  readonly port?: number;
  /** Where tenure answers probes and says who leads. @default 8081 */
  readonly statusPort?: number;
  /** Of the sidecar, in mode `sidecar`. @default "tenure:0.1.0" */
  readonly tenureImage?: string;
  /** How long the program may take to stop, in seconds. @default 25 */
  readonly stopTimeout?: number;
  /** terminationGracePeriodSeconds. @default stopTimeout + 5, in mode `sidecar` + 10 */
  readonly gracePeriod?: number;
  /** @default rolling, with amounts that suit the way of traffic */
  readonly strategy?: "rolling" | "recreate";
  /** @default 0, or 100% where only the leader is Ready */
  readonly maxUnavailable?: Amount;
  /** @default 1, or 0 where only the leader is Ready */
  readonly maxSurge?: Amount;
}

export interface CheckedOptions extends Required<Omit<ManifestOptions, "port" | "strategy">> {
  readonly port: number | undefined;
  readonly strategy: Strategy;
  /** Whether the pods that do not lead are not Ready. */
  readonly isOnlyLeaderReady: boolean;
}

/**
 * What releasing the lease and leaving traffic may take after the program has stopped. A sidecar is told to stop only then, and
 * gives the application its handover delay of 2 s before it does the same.
 */
const graceMarginSeconds = (mode: Mode) => (mode === "sidecar" ? 10 : 5);

const defaults = {
  replicas: 3,
  traffic: "none",
  mode: "run",
  command: [],
  statusPort: 8081,
  tenureImage: "tenure:0.1.0",
  stopTimeout: 25,
} as const;

export function checkOptions(given: ManifestOptions): CheckedOptions {
  const options = { ...defaults, ...withoutUndefined(given) };
  const isOnlyLeaderReady = options.traffic === "ready-file" || options.traffic === "configmap";
  const gracePeriod = given.gracePeriod ?? options.stopTimeout + graceMarginSeconds(options.mode);
  const amounts = {
    maxUnavailable: given.maxUnavailable ?? (isOnlyLeaderReady ? "100%" : 0),
    maxSurge: given.maxSurge ?? (isOnlyLeaderReady ? 0 : 1),
  };
  const strategy: Strategy = given.strategy === "recreate" ? "recreate" : amounts;
  const checked: CheckedOptions = {
    ...options,
    ...amounts,
    port: given.port,
    strategy,
    gracePeriod,
    isOnlyLeaderReady,
  };
  const problems = [
    ...problemsOfNames(checked),
    ...problemsOfNumbers(checked),
    ...problemsOfChoices(checked),
  ];
  const deadlock = problems.length === 0 && isOnlyLeaderReady && rolloutDeadlock(checked.replicas, strategy);
  if (deadlock) problems.push(`a rollout would never end: ${deadlock}; ${wayOut(checked)}`);
  if (problems.length > 0) throw new CliError("USAGE", `Cannot make manifests: ${problems.join("; ")}.`);
  return checked;
}

function problemsOfNames({ name, namespace, image, tenureImage }: CheckedOptions): string[] {
  const problems: string[] = [];
  const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
  if (!label.test(name) || !/^[a-z]/.test(name)) {
    problems.push(
      `--name must be at most 63 of a-z, 0-9 and -, with a letter first and no - at the end: "${name}"`,
    );
  }
  if (name.length > longestName) {
    problems.push(
      `--name must leave room for the names that are made from it, ${longestName} letters at most: ${name.length}`,
    );
  }
  if (!label.test(namespace)) problems.push(`--namespace must be the name of a namespace: "${namespace}"`);
  for (const [flag, value] of [
    ["--image", image],
    ["--tenure-image", tenureImage],
  ] as const) {
    if (!value || /\s/.test(value)) problems.push(`${flag} must be the name of an image: "${value}"`);
  }
  return problems;
}

/** 63 less "-leader". */
const longestName = 56;

function problemsOfNumbers(options: CheckedOptions): string[] {
  const problems: string[] = [];
  const marginSeconds = graceMarginSeconds(options.mode);
  const { replicas, stopTimeout, gracePeriod, port, statusPort, maxUnavailable, maxSurge } = options;
  if (!Number.isInteger(replicas) || replicas < 1)
    problems.push(`--replicas must be a whole number from 1: ${replicas}`);
  if (!Number.isInteger(stopTimeout) || stopTimeout < 1) {
    problems.push(`--stop-timeout must be whole seconds, at least 1s: ${stopTimeout}`);
  }
  if (!Number.isInteger(gracePeriod) || gracePeriod < stopTimeout + marginSeconds) {
    problems.push(
      `--grace-period must leave ${marginSeconds}s after --stop-timeout, to leave traffic and release the lease: ` +
        `${gracePeriod}s < ${stopTimeout}s + ${marginSeconds}s`,
    );
  }
  for (const [flag, value] of [
    ["--port", port],
    ["--status-port", statusPort],
  ] as const) {
    if (value !== undefined && (!Number.isInteger(value) || value < 1 || value > 65535)) {
      problems.push(`${flag} must be a whole number from 1 to 65535: ${value}`);
    }
  }
  if (port === statusPort) problems.push(`--port and --status-port must differ: ${port}`);
  for (const [flag, value] of [
    ["--max-unavailable", maxUnavailable],
    ["--max-surge", maxSurge],
  ] as const) {
    if (!isAmount(value)) problems.push(`${flag} must be a number of pods or a percentage: ${value}`);
  }
  return problems;
}

function problemsOfChoices({ mode, traffic, command, port }: CheckedOptions): string[] {
  const problems: string[] = [];
  if (!trafficModes.includes(traffic)) {
    problems.push(`--traffic must be one of ${trafficModes.join(", ")}: ${traffic}`);
  } else if (traffic !== "none" && port === undefined) {
    problems.push(`--traffic ${traffic} needs --port, the port that the application listens on`);
  }
  if (!modes.includes(mode)) problems.push(`--mode must be one of ${modes.join(", ")}: ${mode}`);
  else if (mode === "run" && command.length === 0) {
    problems.push("--mode run needs what the leader shall run, at the end of the line: -- node worker.js");
  }
  return problems;
}

function wayOut({ replicas, traffic }: CheckedOptions): string {
  return (
    `use --max-unavailable ${replicas} (all pods at once, as without the flag), or --strategy recreate, or instead of ` +
    `--traffic ${traffic} use label or endpointslice, with which standbys are Ready and pods are replaced one by one`
  );
}

function withoutUndefined(options: ManifestOptions): ManifestOptions {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  ) as unknown as ManifestOptions;
}
