/**
 * Follows who is named in a ConfigMap by watching it: the manual way, in milliseconds rather than the kubelet's minute.
 * While the API server cannot be reached, the name that was last seen stands: a person chose it, and nobody else can be
 * told either. Not promised: mutual exclusion; a pod that is cut off goes on as it was.
 */
import { type KubeClient, KubeError } from "@tenure/kube";
import { TrafficError } from "../errors.ts";
import { defaultConfigMap, defaultConfigMapKey } from "../gates/leader-config-map.ts";
import { nameProblem } from "../names.ts";
import { Follower, type FollowOptions } from "./named.ts";

export interface FollowConfigMapOptions extends FollowOptions {
  readonly client: Pick<KubeClient, "request" | "watch">;
  readonly namespace: string;
  /** @default "leader-config" */
  readonly name?: string;
  /** @default "leader" */
  readonly key?: string;
}

interface ConfigMap {
  readonly data?: Readonly<Record<string, string>>;
}

/** The API server sends a bookmark about every minute; a stream that is silent for longer is dead. */
const silentWatchMs = 150_000;

/** Resolves when the signal has aborted. A ConfigMap that is not there names nobody. */
export async function followConfigMap(options: FollowConfigMapOptions): Promise<void> {
  const { client, namespace, name = defaultConfigMap, key = defaultConfigMapKey, signal } = options;
  const problems = [
    nameProblem("namespace", namespace),
    nameProblem("the name of the ConfigMap", name),
  ].filter((problem) => problem !== undefined);
  if (problems.length > 0)
    throw new TrafficError("InvalidOptions", `Cannot follow the ConfigMap: ${problems.join("; ")}.`);
  const follower = new Follower(options);
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  // What is heard is acted on in that order, for an event may come while a file is being written.
  let last: Promise<void> = Promise.resolve();
  let events = 0;
  const heard = (object: ConfigMap | undefined) => {
    last = last.then(() => follower.heard(object?.data?.[key]));
  };
  const read = async () => {
    const before = events;
    try {
      const found = await client.request<ConfigMap>({ method: "GET", path: `${path}/${name}`, signal });
      // An event that came meanwhile is newer than the answer may be.
      if (events === before) heard(found);
    } catch (error) {
      if (error instanceof KubeError && error.code === "NotFound") {
        if (events === before) heard(undefined);
      } else if (!signal.aborted) follower.failed(error);
    }
  };
  await client.watch<ConfigMap>({
    path,
    query: { fieldSelector: `metadata.name=${name}` },
    signal,
    idleMs: silentWatchMs,
    onUp: ({ resumed }) => {
      // A ConfigMap that is not there, or that was deleted while nobody watched, is not told of.
      if (!resumed) void read();
    },
    onDown: (error) => follower.failed(error),
    onEvent: ({ type, object }) => {
      events += 1;
      heard(type === "DELETED" ? undefined : object);
    },
  });
  await last;
  await follower.end();
}
