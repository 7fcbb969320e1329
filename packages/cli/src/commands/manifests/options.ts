/**
 * The options of the manifests, their defaults and their check. Configurations that cannot work are rejected here, before
 * they are in a cluster.
 */
import { oneOfProblem, type Problem, quote, wholeNumberProblem } from "@tenure/base";
import { supervisorDefaults } from "@tenure/supervisor/options";
import { rejectProblems } from "../../settings/problems.ts";
import { type Amount, isAmount, rolloutDeadlock, type Strategy } from "./rollout.ts";

/** Who receives traffic: every Ready replica, or only the leader, in one of four ways. */
export const trafficModes = ["none", "ready-file", "label", "endpointslice", "configmap"] as const;
export type TrafficMode = (typeof trafficModes)[number];

/** Who runs the election: `tenure run` around the program, `tenure sidecar` beside it, or the program itself. */
export const modes = ["run", "sidecar", "library"] as const;
type Mode = (typeof modes)[number];

export interface ManifestOptions {
  /** Name of all objects and of the lease. */
  readonly name: string;
  readonly namespace: string;
  /** Mode `run`: an image whose entry point is tenure. Other modes: the image of the application. */
  readonly image: string;
  /** @default 3 */
  readonly replicas?: number;
  /** @default "none" */
  readonly traffic?: TrafficMode;
  /** @default "run" */
  readonly mode?: Mode;
  /** Mode `run`: the command that the leader runs. Other modes: the command of the container. @default that of the image */
  readonly command?: readonly string[];
  /** Port of the application. @default none, and no Service */
  readonly port?: number;
  /** Port on which tenure answers probes and reports who leads. @default 8081 */
  readonly statusPort?: number;
  /** Image of the sidecar in mode `sidecar`. @default "tenure:0.1.0" */
  readonly tenureImage?: string;
  /** Seconds that the program may take to stop. @default 25 */
  readonly stopTimeout?: number;
  /** terminationGracePeriodSeconds of the pod. @default stopTimeout + 5; in mode `sidecar` stopTimeout + 10 */
  readonly gracePeriod?: number;
  /** @default "rolling" */
  readonly strategy?: "rolling" | "recreate";
  /** @default 0; 100% if only the leader is Ready */
  readonly maxUnavailable?: Amount;
  /** @default 1; 0 if only the leader is Ready */
  readonly maxSurge?: Amount;
  /** Whether candidates show themselves to operators, which needs rights on all Leases of the namespace. @default true */
  readonly register?: boolean;
  /** An admission policy that narrows the rights on Leases and, with traffic `label`, on pods. @default false */
  readonly admissionPolicy?: boolean;
  /** A NetworkPolicy that keeps other pods away from the status port. @default false */
  readonly networkPolicy?: boolean;
  /** With `networkPolicy`: the namespace whose pods may read the status port. @default none */
  readonly scrapeNamespace?: string;
  /** A PodMonitor and a PrometheusRule, for the Prometheus operator. @default false */
  readonly monitoring?: boolean;
  /** With `monitoring`: the page with one section for each alert. @default "docs/tasks/alerts.md" */
  readonly runbookUrl?: string;
}

type OptionalName = "port" | "strategy" | "scrapeNamespace";

export interface CheckedOptions extends Required<Omit<ManifestOptions, OptionalName>> {
  readonly port: number | undefined;
  readonly scrapeNamespace: string | undefined;
  readonly strategy: Strategy;
  /** Whether standbys are not Ready. */
  readonly isOnlyLeaderReady: boolean;
}

/**
 * Time to leave traffic and release the lease after the program has stopped. Kubernetes stops a sidecar only then, and the
 * sidecar waits for its handover delay of 2 s first.
 */
const graceMarginSeconds = (mode: Mode) => (mode === "sidecar" ? 10 : 5);

/** The defaults, for the help too. */
export const manifestDefaults = {
  replicas: 3,
  traffic: "none",
  mode: "run",
  command: [],
  statusPort: 8081,
  tenureImage: "tenure:0.1.0",
  stopTimeout: supervisorDefaults.stopTimeoutMs / 1_000,
  register: true,
  admissionPolicy: false,
  networkPolicy: false,
  monitoring: false,
  runbookUrl: "docs/tasks/alerts.md",
} as const;

export function checkOptions(given: ManifestOptions): CheckedOptions {
  const options = { ...manifestDefaults, ...withoutUndefined(given) };
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
    scrapeNamespace: given.scrapeNamespace,
    strategy,
    gracePeriod,
    isOnlyLeaderReady,
  };
  const problems = [
    ...nameProblems(checked),
    ...numberProblems(checked),
    ...choiceProblems(checked),
    ...policyProblems(checked, given),
  ];
  if (problems.length === 0 && isOnlyLeaderReady) problems.push(...rolloutProblems(checked));
  rejectProblems(problems, { cannot: "print manifests" });
  return checked;
}

/** The longest name of a label is 63, and names of other objects append "-leader". */
const longestName = 56;

/** The name of a namespace, and of most objects. */
const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

function nameProblems({ name, namespace, image, tenureImage }: CheckedOptions): Problem[] {
  const problems: Problem[] = [];
  if (!label.test(name) || !/^[a-z]/.test(name)) {
    const rule =
      "must begin with a letter, end with a letter or digit, and have at most 63 of a-z, 0-9 and -";
    problems.push({ field: "name", rule, value: quote(name) });
  }
  if (name.length > longestName) {
    const rule = `must have at most ${longestName} characters, because other names are made from it`;
    problems.push({ field: "name", rule, value: `${name.length} characters long` });
  }
  if (!label.test(namespace))
    problems.push({ field: "namespace", rule: "must be the name of a namespace", value: quote(namespace) });
  for (const [field, value] of Object.entries({ image, tenureImage })) {
    if (!value || /\s/.test(value))
      problems.push({ field, rule: "must be the name of an image", value: quote(value) });
  }
  return problems;
}

function numberProblems(options: CheckedOptions): Problem[] {
  const problems: Problem[] = [];
  const marginSeconds = graceMarginSeconds(options.mode);
  const { replicas, stopTimeout, gracePeriod, port, statusPort, maxUnavailable, maxSurge } = options;
  if (!Number.isInteger(replicas) || replicas < 1) problems.push(wholeNumberProblem("replicas", 1, replicas));
  if (!Number.isInteger(stopTimeout) || stopTimeout < 1) {
    const rule = "must be a whole number of seconds, at least 1s";
    problems.push({ field: "stopTimeout", rule, value: `${stopTimeout}s` });
  }
  if (!Number.isInteger(gracePeriod) || gracePeriod < stopTimeout + marginSeconds) {
    problems.push({
      field: "gracePeriod",
      rule: `must be at least ${marginSeconds}s longer than {stopTimeout}, to leave traffic and release the lease`,
      limit: `${stopTimeout}s`,
      value: `${gracePeriod}s`,
    });
  }
  for (const [field, value] of Object.entries({ port, statusPort })) {
    if (value !== undefined && (!Number.isInteger(value) || value < 1 || value > 65_535))
      problems.push({ field, rule: "must be a port from 1 to 65535", value: String(value) });
  }
  if (port === statusPort)
    problems.push({ field: "port", rule: "must differ from {statusPort}", value: String(port) });
  for (const [field, value] of Object.entries({ maxUnavailable, maxSurge })) {
    if (!isAmount(value))
      problems.push({ field, rule: "must be a number of pods or a percentage", value: String(value) });
  }
  return problems;
}

function choiceProblems({ mode, traffic, command, port }: CheckedOptions): Problem[] {
  const problems: Problem[] = [];
  if (!trafficModes.includes(traffic)) problems.push(oneOfProblem("traffic", trafficModes, traffic));
  else if (traffic !== "none" && port === undefined)
    problems.push({ field: `--traffic ${traffic}`, rule: "requires {port}, the port of the application" });
  if (!modes.includes(mode)) problems.push(oneOfProblem("mode", modes, mode));
  else if (mode === "run" && command.length === 0) {
    const fix = "put the command at the end: -- node worker.js";
    problems.push({ field: "--mode run", rule: "requires a command for the leader to run", fix });
  }
  return problems;
}

function policyProblems(
  { traffic, register, admissionPolicy, networkPolicy, scrapeNamespace }: CheckedOptions,
  given: ManifestOptions,
): Problem[] {
  const problems: Problem[] = [];
  if (admissionPolicy && traffic !== "label" && !register) {
    const fix = "leave it out: without both, no right needs to be narrowed";
    problems.push({ field: "admissionPolicy", rule: "requires {traffic} label or {register}", fix });
  }
  if (given.runbookUrl !== undefined && !given.monitoring)
    problems.push({ field: "runbookUrl", rule: "requires {monitoring}" });
  if (scrapeNamespace !== undefined && !networkPolicy)
    problems.push({ field: "scrapeNamespace", rule: "requires {networkPolicy}" });
  if (scrapeNamespace !== undefined && !label.test(scrapeNamespace)) {
    const value = quote(scrapeNamespace);
    problems.push({ field: "scrapeNamespace", rule: "must be the name of a namespace", value });
  }
  return problems;
}

function rolloutProblems({ replicas, traffic, strategy }: CheckedOptions): Problem[] {
  const deadlock = rolloutDeadlock(replicas, strategy);
  if (deadlock === undefined) return [];
  return [
    {
      field: "a rollout",
      rule: `would hang: ${deadlock}`,
      fix:
        `use {maxUnavailable} ${replicas} (replaces all pods at once, the default), or {strategy} recreate, or instead of ` +
        `{traffic} ${traffic} use label or endpointslice, with which standbys are Ready and pods are replaced one by one`,
    },
  ];
}

function withoutUndefined(options: ManifestOptions): ManifestOptions {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  ) as unknown as ManifestOptions;
}
