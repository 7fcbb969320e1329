/** The flags that say how the leader is reached, the same for `tenure run` and `tenure sidecar`. Cheap to load; see traffic-from.ts. */
import { type Command, Option } from "commander";

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
        "a file that is there while this replica is to be reached, for an exec readiness probe",
      ),
      new Option(
        "--label",
        "label the pod tenure.dev/role=leader while it is to be reached, else standby ($POD_NAME)",
      ),
      new Option(
        "--service <name>",
        "make this pod the one endpoint of a Service without a selector ($POD_NAME, $POD_IP)",
      ),
      new Option(
        "--endpoint-slice <name>",
        "the EndpointSlice for --service (default: its name and -leader)",
      ),
      new Option(
        "--port <number>",
        "this pod's port for --service, or name=number,… where it has several (default: its targetPort)",
      ),
      new Option("--address <ip>", "this pod's address for --service (default: $POD_IP)"),
      new Option(
        "--leader-configmap <name>",
        "write the leader's name into this ConfigMap, under the key leader (or name/key)",
      ),
    ],
    "Status:": [
      new Option(
        "--status <address>",
        "serve /leader, /events, /healthz, /readyz and /metrics on :PORT, HOST:PORT or unix:PATH",
      ),
      new Option(
        "--status-ready <mode>",
        "what /readyz means: always (standbys too), leader or child-ready",
      ).default("always"),
      new Option(
        "--status-token-file <file>",
        "bearer token for POST /step-down over TCP, which is refused without",
      ),
    ],
  };
  for (const [heading, options] of Object.entries(groups)) {
    for (const option of options) command.addOption(option.helpGroup(heading));
  }
}
