/** Reads the ConfigMaps and Secrets of pods. Several readers share one answer for a short time. */
import type { Clock } from "@tenure/base";
import { type ApiClient, objectPath, type Resource } from "../../client/api.ts";
import type { ConfigMap, Secret } from "../pod.ts";

const configMaps: Resource<ConfigMap> = {
  apiVersion: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
};
const secrets: Resource<Secret> = { apiVersion: "v1", kind: "Secret", plural: "secrets", namespaced: true };

/** How old an answer may be for the files of a volume. Variables of a new container are always read anew. */
const freshMs = 1_000;

interface Answer {
  readonly atMs: number;
  readonly object: Promise<unknown>;
}

export class Lookup {
  readonly #client: ApiClient;
  readonly #clock: Clock;
  readonly #answers = new Map<string, Answer>();

  constructor(client: ApiClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Undefined if it does not exist. */
  configMap(namespace: string, name: string): Promise<ConfigMap | undefined> {
    return this.#read(configMaps, namespace, name) as Promise<ConfigMap | undefined>;
  }

  secret(namespace: string, name: string): Promise<Secret | undefined> {
    return this.#read(secrets, namespace, name) as Promise<Secret | undefined>;
  }

  #read(resource: Resource<ConfigMap | Secret>, namespace: string, name: string): Promise<unknown> {
    const path = objectPath(resource, { namespace, name });
    const nowMs = this.#clock.now().monoMs;
    for (const [key, { atMs }] of this.#answers) if (nowMs - atMs > freshMs) this.#answers.delete(key);
    const known = this.#answers.get(path);
    if (known) return known.object;
    const object = this.#client.request({ method: "GET", path }).catch((error: unknown) => {
      if ((error as { code?: unknown }).code === "NotFound") return undefined;
      this.#answers.delete(path);
      throw error;
    });
    this.#answers.set(path, { atMs: nowMs, object });
    return object;
  }
}
