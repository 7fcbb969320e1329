/** One informer for each resource, however many controllers need it. */
import type { Platform } from "../platform.ts";
import type { ApiClient, Resource } from "./api.ts";
import { Informer, type InformerOptions } from "./informer.ts";
import type { KubeObject } from "./objects.ts";

export interface InformersOptions {
  client: ApiClient;
  platform: Platform;
  /** A watch or a list failed. Both are retried. */
  onError: (error: Error) => void;
}

export class Informers {
  readonly #options: InformersOptions;
  readonly #informers = new Map<string, Informer<KubeObject>>();

  constructor(options: InformersOptions) {
    this.#options = options;
  }

  /** @param scope a namespace, or a selector. Everything if it is missing. */
  of<T extends KubeObject>(
    resource: Resource<T>,
    scope: Pick<InformerOptions<T>, "namespace" | "query"> = {},
  ): Informer<T> {
    const key = JSON.stringify([resource.apiVersion, resource.plural, scope]);
    const known = this.#informers.get(key);
    const informer = known ?? new Informer<KubeObject>({ ...this.#options, ...scope, resource });
    this.#informers.set(key, informer);
    return informer as Informer<KubeObject> as Informer<T>;
  }

  /** Follows all resources that were asked for, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.run(signal)));
  }

  /** Resolves when all copies are complete. */
  async synced(): Promise<void> {
    await Promise.all([...this.#informers.values()].map(({ synced }) => synced));
  }
}
