/** What the pods of one node share. */
import type { GuardedProcesses } from "@tenure/supervisor/internal";
import type { ApiClient } from "../../client/api.ts";
import type { EventRecorder } from "../../client/event-recorder.ts";
import type { Service } from "../../client/objects.ts";
import type { Lookup } from "../container/lookup.ts";
import type { Isolation } from "../isolation/isolation.ts";
import type { NodePlatform } from "../platform.ts";

export interface PodContext {
  readonly client: ApiClient;
  readonly platform: NodePlatform;
  readonly processes: GuardedProcesses;
  readonly isolation: Isolation;
  readonly lookup: Lookup;
  readonly recorder: EventRecorder;
  readonly nodeName: string;
  readonly images: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
  /** Where pods keep their files. */
  readonly dataDirectory: string;
  /** The API server, as pods reach it. */
  apiServer(): { readonly host: string; readonly port: string };
  services(): readonly Service[];
  /** The lines of /etc/hosts for the services of the cluster. */
  hostLines(namespace: string): readonly string[];
  onError(error: unknown): void;
}
