/** Creates the gates and the status server that the flags describe. */
import { promises as files } from "node:fs";
import {
  Backoff,
  formatDuration,
  messageOf,
  oneOfProblem,
  type Problem,
  quote,
  sentence,
  sleep,
} from "@tenure/base";
import type { Election } from "@tenure/election";
import {
  type PrometheusMetrics,
  type ReadyMode,
  StatusError,
  type StatusServer,
  type StatusSource,
} from "@tenure/status";
import { parseListenAddress, readyModes } from "@tenure/status/internal";
import type { Supervisor } from "@tenure/supervisor";
import { type Gate, prepareGates, TrafficError } from "@tenure/traffic";
import { isTransient, takeOverEachTerm } from "@tenure/traffic/internal";
import type { Connection } from "../cluster/connect.ts";
import { CliError } from "../errors.ts";
import type { Platform } from "../platform.ts";
import type { TrafficFlags } from "../settings/traffic-options.ts";
import type { GateFailure } from "./count-gate-failures.ts";
import { parsePorts } from "./parse-ports.ts";

export interface Traffic {
  readonly gates: readonly Gate[];
  /** For the election; undefined without a status server. */
  readonly metrics?: PrometheusMetrics;
  /**
   * Takes this replica out of traffic before the election starts. Waits for an API server that does not answer. Rejects if a gate
   * cannot work until a person changes something.
   */
  prepare(signal: AbortSignal): Promise<void>;
  /** Takes a dead leader out of traffic while the work of a new term is starting. The returned function stops that. */
  takeOver(election: Pick<Election, "on">): () => void;
  /** Starts the status server, if --status is given. */
  serve(source: StatusSource): Promise<StatusServer | undefined>;
}

export interface TrafficParts {
  readonly flags: TrafficFlags;
  /** Undefined if no gate needs Kubernetes. */
  readonly connection: Pick<Connection, "client" | "namespace"> | undefined;
  readonly platform: Platform;
  /** The name of the election. */
  readonly election: string;
  readonly identity: string;
  /** Receives failures of gates, and reports of repairs. */
  readonly onError: (error: Error) => void;
}

/** What the status server shows about an election with a supervised child. */
export function statusSourceOf(
  election: Election,
  supervisor: Pick<Supervisor, "phase" | "status" | "on" | "stepDown">,
): StatusSource {
  return {
    election,
    phase: () => supervisor.phase,
    child: () => supervisor.status().child,
    supervisor,
    stepDown: () => supervisor.stepDown(),
    onChange: (listener) => {
      const stops = [supervisor.on("phase", listener), supervisor.on("child", listener)];
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}

/** Everything that is wrong with the flags. */
export function trafficProblems(
  flags: TrafficFlags,
  platform: Platform,
  { hasChild }: { readonly hasChild: boolean },
): Problem[] {
  const { service, port, address, status, statusReady = "always", statusTokenFile } = flags;
  const problems: Problem[] = [];
  for (const field of ["endpointSlice", "port", "address"] as const) {
    if (flags[field] !== undefined && service === undefined)
      problems.push({ field, rule: "requires {service}" });
  }
  if (port !== undefined && parsePorts(port) === undefined)
    problems.push({ field: "port", rule: "must be a port, or name=port,name=port", value: quote(port) });
  if (service !== undefined && !(address ?? platform.env("POD_IP"))) {
    problems.push({
      field: "service",
      rule: "requires the address of this pod",
      fix: "set POD_IP with the downward API (fieldRef status.podIP), or pass {address}",
    });
  }
  if (status !== undefined)
    problems.push(...parseListenAddress(status).problems.map((problem) => ({ ...problem, field: "status" })));
  if (!(readyModes as readonly string[]).includes(statusReady))
    problems.push(oneOfProblem("statusReady", readyModes, statusReady));
  if (statusReady === "child-ready" && !hasChild) {
    const fix = "use leader or always, because a sidecar has no child";
    problems.push({ field: "statusReady", rule: "must not be child-ready", fix });
  }
  if (statusReady !== "always" && status === undefined)
    problems.push({ field: "statusReady", rule: "requires {status}" });
  if (statusTokenFile !== undefined && status === undefined)
    problems.push({ field: "statusTokenFile", rule: "requires {status}" });
  return problems;
}

export async function createTraffic(parts: TrafficParts): Promise<Traffic> {
  const { flags, election } = parts;
  const { status } = flags;
  // Loaded only if they are needed, because most replicas start without them.
  const server = status === undefined ? undefined : await import("@tenure/status");
  const metrics = await server?.PrometheusMetrics.create({ name: election });
  const onFailure: GateFailure = (gate, action) => metrics?.gateFailed(gate, action);
  const gates = hasGates(flags) ? await loadGates(parts, onFailure) : [];
  return {
    gates,
    ...(metrics && { metrics }),
    takeOver: (own) => takeOverEachTerm(own, { gates, onError: parts.onError }),
    prepare: (signal) => asFailure(() => prepareWhenPossible(gates, parts, signal)),
    async serve(source) {
      if (status === undefined || !server || !metrics) return undefined;
      metrics.observe(source);
      const { statusReady, statusTokenFile } = flags;
      return asFailure(() =>
        server.startStatusServer({
          listen: status,
          source,
          metrics,
          readyMode: statusReady as ReadyMode,
          ...(statusTokenFile !== undefined && { token: () => files.readFile(statusTokenFile, "utf8") }),
        }),
      );
    },
  };
}

async function loadGates(parts: TrafficParts, onFailure: GateFailure): Promise<Gate[]> {
  const { createGates } = await import("./create-gates.ts");
  return asUsageError(() => createGates(parts, onFailure));
}

function hasGates({ readyFile, label, service, leaderConfigmap }: TrafficFlags): boolean {
  return Boolean(label) || [readyFile, service, leaderConfigmap].some((value) => value !== undefined);
}

const preparePauses = { firstMs: 1_000, mostMs: 30_000, jitter: 0 };

async function prepareWhenPossible(
  gates: readonly Gate[],
  { platform, onError }: TrafficParts,
  signal: AbortSignal,
): Promise<void> {
  const pauses = new Backoff(preparePauses, () => 0);
  for (;;) {
    try {
      await prepareGates(gates);
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (!isTransient(error)) throw error;
      const pauseMs = pauses.next();
      const message = `${sentence(messageOf(error))} Next attempt in ${formatDuration(pauseMs)}.`;
      onError(new Error(message, { cause: error }));
      await sleep(platform.clock, pauseMs, signal);
      signal.throwIfAborted();
    }
  }
}

/** Runs a function whose setup errors mean a wrong command line. */
function asUsageError<T>(create: () => T): T {
  try {
    return create();
  } catch (error) {
    throw isSetupError(error) ? new CliError("Usage", error.message, { cause: error }) : error;
  }
}

async function asFailure<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw isSetupError(error) ? new CliError("Failed", error.message, { cause: error }) : error;
  }
}

function isSetupError(error: unknown): error is Error {
  return error instanceof TrafficError || error instanceof StatusError;
}
