/**
 * A client that writes only within a term. After the term was asked to end, no write starts; those under way may finish, because
 * the successor starts only when this work has stopped. When the term is lost, those under way are cut off too.
 */
import type { Term } from "@tenure/election";
import { type KubeClient, KubeError } from "@tenure/kube";
import type { ApiClient } from "../client/api.ts";

export type Fence = Pick<Term, "signal" | "lost" | "isValid">;

/** A write that takes longer than this is given up. Another attempt follows. */
const writeTimeoutMs = 5_000;

export function fencedClient(client: Pick<KubeClient, "request" | "watch">, term: Fence): ApiClient {
  return {
    watch: (request) => client.watch(request),
    async request(request) {
      if (request.method === "GET") return client.request(request);
      // The clock decides, not a flag: this process may have been frozen since the signal was last looked at.
      if (term.signal.aborted || !term.isValid()) {
        throw new KubeError("Aborted", `Cannot write ${request.path}: the term of this process has ended.`);
      }
      const signal = request.signal ? AbortSignal.any([request.signal, term.lost]) : term.lost;
      return client.request({ timeoutMs: writeTimeoutMs, ...request, signal });
    },
  };
}
