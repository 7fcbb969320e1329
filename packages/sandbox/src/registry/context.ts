/** A request on its way through the API, and the responses that it can get. */
import type { IncomingHttpHeaders } from "node:http";
import type { Authorizer } from "../access/authorizer.ts";
import type { Attributes } from "../access/rules.ts";
import type { ServiceAccountTokens } from "../access/service-account-tokens.ts";
import type { User } from "../access/user.ts";
import type { Kind } from "../objects/kind.ts";
import type { Platform } from "../platform.ts";
import type { Store } from "../store/store.ts";

/** Where the agent of a node is, and what to ask it. */
export interface AgentTarget {
  host: string;
  port: number;
  token: string;
  path: string;
  /** A plain request, one whose connection becomes a stream in both directions, or one that the agent passes on as it is. */
  kind: "request" | "upgrade" | "proxy";
}

export interface ApiRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  /** Path and query as they were sent. */
  url: string;
  headers: IncomingHttpHeaders;
  /** Reads the body, up to the size limit of the API. */
  body(): Promise<Buffer>;
}

/** The meaning of a method and a path: a verb on a resource. */
export interface RequestInfo extends Attributes {
  subresource: string;
  /** Whether the path names a resource. If not, `path` holds the path. */
  isResource: boolean;
  /** Whether the path names a resource but has more segments than any resource path. */
  tooLong: boolean;
}

/** The form that the client accepts for the response. */
export interface ResponseForm {
  format: "json" | "yaml";
  as: "object" | "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";
}

/** The parts of the cluster that handlers use. */
export interface Cluster {
  store: Store;
  platform: Platform;
  tokens: ServiceAccountTokens;
  authorizer: Authorizer;
}

/** An authorized request. */
export interface Context {
  request: ApiRequest;
  info: RequestInfo;
  user: User;
  responseForm: ResponseForm;
  cluster: Cluster;
  /** Sent as Warning headers. */
  warnings: string[];
}

/** A request for a stored kind. */
export interface KindContext extends Context {
  kind: Kind;
  /** Whether server-side apply has already set metadata.managedFields. */
  managedFieldsAreSet?: boolean;
  /** The subresource to record in metadata.managedFields, if it differs from the one in the path. */
  recordedSubresource?: string;
}

/** The output of a watch. */
export interface Sink {
  write(text: string): void;
  end(): void;
  /** Calls back once, when the client disconnects or the stream ends. */
  onClose(callback: () => void): void;
}

export type ApiResponse =
  | { type: "object"; code: number; value: unknown; headers?: Record<string, string> }
  /** An object that is already serialized as JSON. */
  | { type: "json"; code: number; json: string }
  | { type: "text"; code: number; text: string }
  | { type: "redirect"; location: string }
  | { type: "bytes"; code: number; contentType: string; bytes: Buffer }
  | { type: "stream"; start(sink: Sink): void }
  /** The agent of a node answers. */
  | { type: "forward"; target: AgentTarget };
