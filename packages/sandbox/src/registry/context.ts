/** What one request carries along its path, and what it may be answered with. */
import type { IncomingHttpHeaders } from "node:http";
import type { User } from "../access/user.ts";
import type { Cluster } from "../control/cluster.ts";
import type { Kind } from "../objects/kind.ts";
import type { Wanted } from "../wire/negotiate.ts";
import type { RequestInfo } from "../wire/request-info.ts";

export interface ApiRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  /** Reads the body, up to the limit of the API. */
  body(): Promise<Buffer>;
}

/** A request that was let in. */
export interface Context {
  request: ApiRequest;
  info: RequestInfo;
  user: User;
  wanted: Wanted;
  cluster: Cluster;
  /** Whether the fields were laid over each other by server-side apply, which keeps their owners itself. */
  applied?: boolean;
  /** The subresource that owners of fields are noted with, where it is not that of the path. */
  trackAs?: string;
  /** Sent as Warning headers. */
  warnings: string[];
}

/** A request for a stored kind. */
export interface KindContext extends Context {
  kind: Kind;
}

/** Where a watch writes. */
export interface Sink {
  write(text: string): void;
  end(): void;
  /** Calls back once, when the client went away or the stream ended. */
  onClose(callback: () => void): void;
}

export type Answer =
  | { type: "object"; code: number; value: unknown; headers?: Record<string, string> }
  /** JSON that is there already. */
  | { type: "json"; code: number; json: string }
  | { type: "text"; code: number; text: string; contentType?: string }
  | { type: "stream"; start(sink: Sink): void };
