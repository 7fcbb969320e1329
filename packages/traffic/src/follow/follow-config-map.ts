/**
 * Follows the pod that a person names in a ConfigMap, by a watch: a change arrives within milliseconds, where a mounted
 * file takes up to a minute. While the API server cannot be reached, the last name stays in force: a person chose it, and
 * no other pod can learn a new one either.
 * Not promised: mutual exclusion. A pod that is cut off from the API server keeps its state.
 */

import { type KubeClient, KubeError } from "@tenure/kube";
import { nameProblem } from "@tenure/kube/internal";
import { rejectProblems } from "../errors.ts";
import { defaultConfigMap, defaultConfigMapKey } from "../gates/leader-config-map.ts";
import { Follower, type FollowOptions } from "./follower.ts";

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

/** The API server sends a bookmark about every minute. A stream that is silent for longer is dead. */
const silentWatchMs = 150_000;

/** Resolves after the signal has aborted. A ConfigMap that does not exist names no pod. */
export async function followConfigMap(options: FollowConfigMapOptions): Promise<void> {
  const { client, namespace, name = defaultConfigMap, key = defaultConfigMapKey, signal } = options;
  rejectProblems("follow the ConfigMap", [
    nameProblem("namespace", namespace),
    nameProblem("the name of the ConfigMap", name),
  ]);
  const follower = new Follower(options);
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  // Updates run one after the other, in the order of arrival: an event may arrive while the ready file is being written.
  let last: Promise<void> = Promise.resolve();
  let events = 0;
  const update = (object: ConfigMap | undefined) => {
    last = last.then(() => follower.update(object?.data?.[key]));
  };
  const read = async () => {
    const before = events;
    try {
      const found = await client.request<ConfigMap>({ method: "GET", path: `${path}/${name}`, signal });
      // An event that arrived during the request may be newer than the response.
      if (events === before) update(found);
    } catch (error) {
      if (error instanceof KubeError && error.code === "NotFound") {
        if (events === before) update(undefined);
      } else if (!signal.aborted) follower.report(error);
    }
  };
  await client.watch<ConfigMap>({
    path,
    query: { fieldSelector: `metadata.name=${name}` },
    signal,
    idleMs: silentWatchMs,
    onUp: ({ resumed }) => {
      // A new watch sends no event for a ConfigMap that does not exist or was deleted before the watch started.
      if (!resumed) void read();
    },
    onDown: (error) => follower.report(error),
    onEvent: ({ type, object }) => {
      events += 1;
      update(type === "DELETED" ? undefined : object);
    },
  });
  await last;
  await follower.stop();
}
