/** The flags that route traffic to the leader, the same for `tenure run` and `tenure sidecar`. Cheap to load; see candidate/create-traffic.ts. */
import { type Command, Option } from "commander";
import { offer } from "./flag-values.ts";

export interface TrafficFlags {
  readyFile?: string;
  label?: boolean;
  service?: string;
  endpointSlice?: string;
  port?: string;
  address?: string;
  leaderConfigmap?: string;
  status?: string;
  statusReady?: string;
  statusTokenFile?: string;
}

export function addTrafficOptions(command: Command): void {
  const groups: Record<string, Option[]> = {
    "Traffic:": [
      new Option(
        "--ready-file <path>",
        "keep this file while this replica should receive traffic, for an exec readiness probe",
      ),
      new Option(
        "--label",
        "label the pod tenure.dev/role=leader while it should receive traffic, else standby ($POD_NAME)",
      ),
      new Option(
        "--service <name>",
        "make this pod the only endpoint of a Service without a selector ($POD_NAME, $POD_IP)",
      ),
      new Option(
        "--endpoint-slice <name>",
        "name of the EndpointSlice for --service (default: the Service's name and -leader)",
      ),
      new Option(
        "--port <number>",
        "this pod's port for --service; name=number,… if there are several (default: the Service's targetPort)",
      ),
      new Option("--address <ip>", "this pod's address for --service (default: $POD_IP)"),
      new Option(
        "--leader-configmap <name>",
        "write the leader's name into this ConfigMap, under the key leader; name/key for another key",
      ),
    ],
    "Status:": [
      new Option(
        "--status <address>",
        "serve /leader, /events, /healthz, /readyz and /metrics at :PORT, HOST:PORT or unix:PATH",
      ),
      offer(
        new Option(
          "--status-ready <mode>",
          "when /readyz succeeds: always (also on standbys), elected (somebody leads), leader or child-ready",
        ).default("always"),
        ["always", "elected", "leader", "child-ready"],
      ),
      new Option(
        "--status-token-file <file>",
        "file with the bearer token for POST /step-down over TCP, which is denied without one",
      ),
    ],
  };
  for (const [heading, options] of Object.entries(groups)) {
    for (const option of options) command.addOption(option.helpGroup(heading));
  }
}
