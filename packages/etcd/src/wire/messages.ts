/** The part of etcd's API version 3 that a lock needs. The numbers are those of etcd's rpc.proto, kv.proto and auth.proto. */
import { decode, encode, type Message } from "./protobuf.ts";

const header: Message = {
  clusterId: { id: 1, type: "integer" },
  revision: { id: 3, type: "integer" },
};

const keyValue: Message = {
  key: { id: 1, type: "bytes" },
  createRevision: { id: 2, type: "integer" },
  modRevision: { id: 3, type: "integer" },
  value: { id: 5, type: "bytes" },
};

const rangeRequest: Message = {
  key: { id: 1, type: "bytes" },
  rangeEnd: { id: 2, type: "bytes" },
  limit: { id: 3, type: "integer" },
  revision: { id: 4, type: "integer" },
  countOnly: { id: 9, type: "boolean" },
};

const rangeResponse: Message = {
  header: { id: 1, type: header },
  kvs: { id: 2, type: keyValue, repeated: true },
  more: { id: 3, type: "boolean" },
};

const putRequest: Message = {
  key: { id: 1, type: "bytes" },
  value: { id: 2, type: "bytes" },
  lease: { id: 3, type: "integer" },
};

const requestOp: Message = {
  range: { id: 1, type: rangeRequest },
  put: { id: 2, type: putRequest },
  delete: { id: 3, type: { key: { id: 1, type: "bytes" } } },
};

/** The result EQUAL is 0 and need not be sent. */
const compare: Message = {
  target: { id: 2, type: "integer" },
  key: { id: 3, type: "bytes" },
  modRevision: { id: 6, type: "integer" },
};

/** The number of `target` for a comparison with mod_revision. */
export const compareModRevision = 2n;

const txnRequest: Message = {
  compare: { id: 1, type: compare, repeated: true },
  success: { id: 2, type: requestOp, repeated: true },
  failure: { id: 3, type: requestOp, repeated: true },
};

const txnResponse: Message = {
  header: { id: 1, type: header },
  succeeded: { id: 2, type: "boolean" },
  responses: { id: 3, type: { range: { id: 1, type: rangeResponse } }, repeated: true },
};

const watchRequest: Message = {
  create: {
    id: 1,
    type: {
      key: { id: 1, type: "bytes" },
      rangeEnd: { id: 2, type: "bytes" },
      startRevision: { id: 3, type: "integer" },
      progressNotify: { id: 4, type: "boolean" },
    },
  },
  /** Asks for the revision up to which all events have been sent. */
  progress: { id: 3, type: {} },
};

const watchResponse: Message = {
  header: { id: 1, type: header },
  created: { id: 3, type: "boolean" },
  canceled: { id: 4, type: "boolean" },
  compactRevision: { id: 5, type: "integer" },
  cancelReason: { id: 6, type: "string" },
  events: {
    id: 11,
    type: { type: { id: 1, type: "integer" }, kv: { id: 2, type: keyValue } },
    repeated: true,
  },
};

/** The number of `type` for an event that reports a deletion. */
export const deletion = 1n;

const authenticateRequest: Message = {
  name: { id: 1, type: "string" },
  password: { id: 2, type: "string" },
};

interface Header {
  readonly clusterId: bigint;
  readonly revision: bigint;
}

export interface KeyValue {
  readonly key: Uint8Array;
  readonly createRevision: bigint;
  readonly modRevision: bigint;
  readonly value: Uint8Array;
}

export interface RangeRequest {
  readonly key: Uint8Array;
  readonly rangeEnd?: Uint8Array;
  readonly limit?: bigint;
  readonly revision?: bigint;
  readonly countOnly?: boolean;
}

export interface RangeResponse {
  readonly header: Header;
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
}

interface RequestOp {
  readonly range?: RangeRequest;
  /** With a lease, etcd deletes the key when the lease expires. */
  readonly put?: { readonly key: Uint8Array; readonly value: Uint8Array; readonly lease?: bigint };
  readonly delete?: { readonly key: Uint8Array };
}

export interface TxnRequest {
  readonly compare: readonly { target: bigint; key: Uint8Array; modRevision: bigint }[];
  readonly success: readonly RequestOp[];
  readonly failure?: readonly RequestOp[];
}

export interface TxnResponse {
  readonly header: Header;
  readonly succeeded: boolean;
  readonly responses: readonly { readonly range: RangeResponse | undefined }[];
}

interface WatchRequest {
  readonly create?: {
    readonly key: Uint8Array;
    readonly rangeEnd?: Uint8Array;
    readonly startRevision?: bigint;
    readonly progressNotify?: boolean;
  };
  readonly progress?: object;
}

export interface WatchResponse {
  readonly header: Header;
  readonly created: boolean;
  readonly canceled: boolean;
  /** Greater than 0 if the watch cannot start, because older revisions were compacted. */
  readonly compactRevision: bigint;
  readonly cancelReason: string;
  readonly events: readonly { readonly type: bigint; readonly kv: KeyValue }[];
}

/** A procedure of etcd: its path, and how its messages are written and read. */
export interface Procedure<Request, Response> {
  readonly path: string;
  encode(request: Request): Buffer;
  decode(bytes: Uint8Array): Response;
  /** The other side, for a simulated member. */
  decodeRequest(bytes: Uint8Array): Request;
  encodeResponse(response: Response): Buffer;
}

function procedure<Request extends object, Response>(
  path: string,
  request: Message,
  response: Message,
): Procedure<Request, Response> {
  return {
    path,
    encode: (values) => encode(request, values as Record<string, unknown>),
    decode: (bytes) => decode(response, bytes) as Response,
    decodeRequest: (bytes) => decode(request, bytes) as Request,
    encodeResponse: (values) => encode(response, values as Record<string, unknown>),
  };
}

export const range = procedure<RangeRequest, RangeResponse>(
  "/etcdserverpb.KV/Range",
  rangeRequest,
  rangeResponse,
);
export const txn = procedure<TxnRequest, TxnResponse>("/etcdserverpb.KV/Txn", txnRequest, txnResponse);
export const watch = procedure<WatchRequest, WatchResponse>(
  "/etcdserverpb.Watch/Watch",
  watchRequest,
  watchResponse,
);
/** Creates a lease. Without a renewal it expires after its time to live, in seconds. */
export const grantLease = procedure<{ readonly ttl: bigint }, { readonly lease: bigint }>(
  "/etcdserverpb.Lease/LeaseGrant",
  { ttl: { id: 1, type: "integer" } },
  { lease: { id: 2, type: "integer" } },
);
/** Tells the version of a member. */
export const memberStatus = procedure<object, { readonly version: string }>(
  "/etcdserverpb.Maintenance/Status",
  {},
  { version: { id: 2, type: "string" } },
);
export const authenticate = procedure<{ name: string; password: string }, { readonly token: string }>(
  "/etcdserverpb.Auth/Authenticate",
  authenticateRequest,
  { token: { id: 2, type: "string" } },
);
