/** A client whose answers a test chooses. */
import type { KubeRequest, WatchRequest } from "@tenure/kube";
import type { ApiClient } from "../client/api.ts";

export interface FakeApi extends ApiClient {
  readonly requests: KubeRequest[];
  /** The watch that was started last. */
  readonly watching: WatchRequest<never> | undefined;
}

/** @param answer the response to a request; it may throw */
export function fakeApi(answer: (request: KubeRequest) => unknown = () => ({})): FakeApi {
  const requests: KubeRequest[] = [];
  let watching: WatchRequest<never> | undefined;
  return {
    requests,
    get watching() {
      return watching;
    },
    async request<T>(request: KubeRequest): Promise<T> {
      requests.push(request);
      return (await answer(request)) as T;
    },
    async watch<T>(request: WatchRequest<T>): Promise<void> {
      watching = request as unknown as WatchRequest<never>;
    },
  };
}
