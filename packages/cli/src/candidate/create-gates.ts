/** Creates the gates that the flags describe. */
import {
  endpointSlice,
  type Gate,
  leaderConfigMap,
  type PodLabelOptions,
  podLabel,
  readyFile,
  TrafficError,
} from "@tenure/traffic";
import { countFailures, type GateFailure } from "./count-gate-failures.ts";
import type { TrafficParts } from "./create-traffic.ts";
import { parsePorts } from "./parse-ports.ts";

type GateOptions = PodLabelOptions & { readonly onError: (error: Error) => void };

export function createGates(parts: TrafficParts, onFailure: GateFailure): Gate[] {
  const { flags, connection, platform, election, identity } = parts;
  const gates: Gate[] = [];
  const add = (kind: string, create: (onError: (error: Error) => void) => Gate) => {
    const onError = (error: Error) => {
      if (!(error instanceof TrafficError && error.code === "Mended")) onFailure(kind, "check");
      parts.onError(error);
    };
    gates.push(countFailures(create(onError), kind, onFailure));
  };
  if (flags.readyFile !== undefined) {
    const { readyFile: path } = flags;
    add("ready-file", (onError) => readyFile({ path, onError }));
  }
  if (!connection) return gates;
  const { client } = connection;
  // The namespace of the pod, which may differ from that of the lock.
  const namespace = platform.env("POD_NAMESPACE") || platform.env("NAMESPACE") || connection.namespace;
  const pod = platform.env("POD_NAME") || identity;
  const addInCluster = (kind: string, create: (common: GateOptions) => Gate) =>
    add(kind, (onError) => create({ client, namespace, pod, election, onError, clock: platform.clock }));
  if (flags.label) addInCluster("label", podLabel);
  if (flags.service !== undefined) {
    const { service, endpointSlice: name, port } = flags;
    const ports = port === undefined ? undefined : parsePorts(port);
    const [nodeName, podUid] = [platform.env("NODE_NAME"), platform.env("POD_UID")];
    addInCluster("endpointslice", (common) =>
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
    addInCluster("configmap", (common) =>
      leaderConfigMap({ ...common, name, ...(key !== undefined && { key }) }),
    );
  }
  return gates;
}
