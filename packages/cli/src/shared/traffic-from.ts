/** The gates and the status server that the flags describe. All that is wrong with them is named at once. */
import { readFile } from "node:fs/promises";
import { describeProblems } from "@tenure/base";
import type { Election } from "@tenure/election";
import {
  PrometheusMetrics,
  type ReadyMode,
  StatusError,
  type StatusServer,
  type StatusSource,
  startStatusServer,
} from "@tenure/status";
import { parseListenAddress, readyModes } from "@tenure/status/internal";
import type { Supervisor } from "@tenure/supervisor";
import {
  endpointSlice,
  type Gate,
  type GivenPorts,
  leaderConfigMap,
  podLabel,
  prepareGates,
  readyFile,
  TrafficError,
} from "@tenure/traffic";
import { CliError } from "../errors.ts";
import type { Platform } from "../platform.ts";
import type { Connection } from "./connection.ts";
import type { TrafficFlags } from "./traffic-options.ts";

export interface Traffic {
  readonly gates: readonly Gate[];
  /** For the election, if there is a status server to show them. */
  readonly metrics?: PrometheusMetrics;
  /** Before the election: this replica is out of traffic, and what would keep it out is told. */
  prepare(): Promise<void>;
  /** Starts the status server, if there is to be one. */
  serve(source: StatusSource): Promise<StatusServer | undefined>;
}

export interface TrafficParts {
  readonly flags: TrafficFlags;
  readonly connection: Pick<Connection, "client" | "namespace">;
  readonly platform: Platform;
  /** The name of the lock. */
  readonly election: string;
  readonly identity: string;
  /** What goes wrong with a gate, or was mended. */
  readonly onError: (error: Error) => void;
}

/** What the status server of a supervised child tells about. */
export function sourceFrom(
  election: Election,
  supervisor: Pick<Supervisor, "phase" | "status" | "on" | "stepDown">,
): StatusSource {
  return {
    election,
    phase: () => supervisor.phase,
    child: () => supervisor.status().child,
    stepDown: () => supervisor.stepDown(),
    onChange: (listener) => {
      const ends = [supervisor.on("phase", listener), supervisor.on("child", listener)];
      return () => {
        for (const end of ends) end();
      };
    },
  };
}

/** Everything that is wrong with the flags, a sentence each. */
export function trafficProblems(
  flags: TrafficFlags,
  platform: Platform,
  { hasChild }: { readonly hasChild: boolean },
): string[] {
  const {
    service,
    endpointSlice: slice,
    port,
    address,
    status,
    statusReady = "always",
    statusTokenFile,
  } = flags;
  const problems: string[] = [];
  for (const [flag, value] of Object.entries({
    "--endpoint-slice": slice,
    "--port": port,
    "--address": address,
  })) {
    if (value !== undefined && service === undefined)
      problems.push(`${flag} needs --service, the Service that it is for`);
  }
  if (port !== undefined && parsePorts(port) === undefined)
    problems.push(`--port must be a number, or name=number,name=number: ${JSON.stringify(port)}`);
  if (service !== undefined && !(address ?? platform.env("POD_IP"))) {
    problems.push(
      "--service needs the address of this pod: set POD_IP by the downward API (status.podIP), or pass --address",
    );
  }
  const listen = status === undefined ? [] : parseListenAddress(status).problems;
  problems.push(...describeProblems(listen, () => "--status"));
  if (!(readyModes as readonly string[]).includes(statusReady))
    problems.push(`--status-ready must be one of ${readyModes.join(", ")}: ${JSON.stringify(statusReady)}`);
  if (statusReady === "child-ready" && !hasChild)
    problems.push("--status-ready child-ready needs a child, and a sidecar has none: use leader or always");
  for (const [flag, isGiven] of Object.entries({
    "--status-ready": statusReady !== "always",
    "--status-token-file": statusTokenFile !== undefined,
  })) {
    if (isGiven && status === undefined) problems.push(`${flag} needs --status, where to serve it`);
  }
  return problems;
}

export async function trafficFrom(parts: TrafficParts): Promise<Traffic> {
  const { flags, election } = parts;
  const gates = asUsage(() => gatesFrom(parts));
  const { status } = flags;
  const metrics = status === undefined ? undefined : await PrometheusMetrics.create({ name: election });
  return {
    gates,
    ...(metrics && { metrics }),
    prepare: () => explained(() => prepareGates(gates)),
    async serve(source) {
      if (status === undefined || !metrics) return undefined;
      metrics.observe(source);
      const { statusReady, statusTokenFile } = flags;
      return explained(() =>
        startStatusServer({
          listen: status,
          source,
          metrics,
          readyMode: statusReady as ReadyMode,
          ...(statusTokenFile !== undefined && { token: () => readFile(statusTokenFile, "utf8") }),
        }),
      );
    },
  };
}

function gatesFrom({ flags, connection, platform, election, identity, onError }: TrafficParts): Gate[] {
  const { client } = connection;
  // The pod's own, which need not be that of the lock.
  const namespace = platform.env("POD_NAMESPACE") || platform.env("NAMESPACE") || connection.namespace;
  const pod = platform.env("POD_NAME") || identity;
  const common = { client, namespace, pod, election, onError };
  const gates: Gate[] = [];
  if (flags.readyFile !== undefined) gates.push(readyFile({ path: flags.readyFile, onError }));
  if (flags.label) gates.push(podLabel(common));
  if (flags.service !== undefined) {
    const { service, endpointSlice: name, port } = flags;
    const ports = port === undefined ? undefined : parsePorts(port);
    const [nodeName, podUid] = [platform.env("NODE_NAME"), platform.env("POD_UID")];
    gates.push(
      endpointSlice({
        ...common,
        service,
        address: flags.address ?? platform.env("POD_IP") ?? "",
        ...(name !== undefined && { name }),
        ...(ports !== undefined && { ports }),
        ...(nodeName && { nodeName }),
        ...(podUid && { podUid }),
      }),
    );
  }
  if (flags.leaderConfigmap !== undefined) {
    const [name = "", key] = flags.leaderConfigmap.split("/", 2);
    gates.push(leaderConfigMap({ ...common, name, ...(key !== undefined && { key }) }));
  }
  return gates;
}

/** `8080`, or `http=8080,grpc=9090`. */
function parsePorts(text: string): GivenPorts | undefined {
  const number = (digits: string) =>
    /^\d{1,5}$/.test(digits) && Number(digits) > 0 && Number(digits) <= 65_535 ? Number(digits) : undefined;
  if (!text.includes("=")) return number(text);
  const ports: Record<string, number> = {};
  for (const part of text.split(",")) {
    const [, name = "", digits = ""] = /^([^=]+)=([^=]+)$/.exec(part) ?? [];
    const port = number(digits);
    if (port === undefined) return undefined;
    ports[name] = port;
  }
  return ports;
}

function asUsage<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw isSetupError(error) ? new CliError("USAGE", error.message, { cause: error }) : error;
  }
}

async function explained<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw isSetupError(error) ? new CliError("FAILED", error.message, { cause: error }) : error;
  }
}

function isSetupError(error: unknown): error is Error {
  return error instanceof TrafficError || error instanceof StatusError;
}
