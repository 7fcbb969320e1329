/**
 * Replaces the gRPC client of one process: requests travel through the faulty link to the simulated cluster. Answers can be late
 * or lost after the commit, a member can lack a leader, reject a token, or not answer until the deadline.
 */
import { type Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { authenticate, type OpenClient, range, txn } from "@tenure/etcd/internal";
import type { ErrorKind } from "../connection.ts";
import type { EtcdCluster } from "./etcd-cluster.ts";
import { EtcdStream } from "./etcd-stream.ts";
import { grpcError } from "./grpc-error.ts";
import type { ClientParts } from "./store-parts.ts";

type Callback = (error: ServiceError | null, response?: unknown) => void;

export function simulatedEtcd(cluster: EtcdCluster, parts: ClientParts): OpenClient {
  return (() => {
    return {
      makeUnaryRequest: (
        path: string,
        encode: (request: unknown) => Buffer,
        decode: (bytes: Buffer) => unknown,
        request: unknown,
        metadata: Metadata,
        { deadline }: { deadline: Date },
        callback: Callback,
      ) => new Call(cluster, parts, deadline, callback).send(path, encode(request), decode, metadata),
      makeBidiStreamRequest: (
        _path: string,
        encode: (request: unknown) => Buffer,
        decode: (bytes: Buffer) => unknown,
        metadata: Metadata,
      ) => new EtcdStream(cluster, parts, { encode, decode, error: rejection(cluster, metadata) }),
      // Calls that are under way go on.
      close: () => {},
    };
  }) as unknown as OpenClient;
}

const noConnection = "No connection established. Last error: connect ECONNREFUSED";

function rejection(cluster: EtcdCluster, metadata: Metadata): ServiceError | undefined {
  if (!cluster.authenticates) return undefined;
  const [token] = metadata.get("token");
  if (token === undefined) return grpcError(status.INVALID_ARGUMENT, "etcdserver: user name is empty");
  return token === cluster.token
    ? undefined
    : grpcError(status.UNAUTHENTICATED, "etcdserver: invalid auth token");
}

class Call {
  readonly #cluster: EtcdCluster;
  readonly #parts: ClientParts;
  readonly #callback: Callback;
  readonly #stopClock: () => void;
  #isDone = false;

  constructor(cluster: EtcdCluster, parts: ClientParts, deadline: Date, callback: Callback) {
    this.#cluster = cluster;
    this.#parts = parts;
    this.#callback = callback;
    const { clock } = parts;
    const { monoMs, wallMs } = clock.now();
    this.#stopClock = clock.at(monoMs + (deadline.getTime() - wallMs), () =>
      this.#end(grpcError(status.DEADLINE_EXCEEDED, "Deadline exceeded")),
    );
  }

  send(path: string, bytes: Buffer, decode: (bytes: Buffer) => unknown, metadata: Metadata) {
    const { link, scheduler, random } = this.#parts;
    const execute = () => this.#execute(path, bytes);
    if (!link.requestsCut) {
      scheduler.after(link.latencyMs(), () => {
        const error = this.#error(path, metadata, execute);
        const answer = error ?? execute();
        if (random.chance(link.duplicateRequests))
          scheduler.after(link.latencyMs() + random.between(0, 4_000), execute);
        this.#answer(answer, decode);
      });
    }
    return { cancel: () => this.#cancel() };
  }

  /** The request may have been performed, or not. */
  #error(path: string, metadata: Metadata, execute: () => Buffer): ServiceError | undefined {
    const { link, random } = this.#parts;
    if (this.#cluster.server.isDown) return grpcError(status.UNAVAILABLE, noConnection);
    const rejected = path === authenticate.path ? undefined : rejection(this.#cluster, metadata);
    if (rejected) return rejected;
    if (path === txn.path && link.rejectedObject === 0)
      return grpcError(status.RESOURCE_EXHAUSTED, "etcdserver: mvcc: database space exceeded");
    const error = link.errors && random.chance(link.errors.probability) ? link.errors.kind : undefined;
    return error && errorOf(error, random.chance(0.5), execute);
  }

  #execute(path: string, bytes: Buffer): Buffer {
    switch (path) {
      case range.path:
        return range.encodeResponse(this.#cluster.range());
      case txn.path:
        return txn.encodeResponse(this.#cluster.txn(this.#parts.writer, txn.decodeRequest(bytes)));
      default:
        return authenticate.encodeResponse({ token: this.#cluster.token });
    }
  }

  #answer(answer: Buffer | ServiceError, decode: (bytes: Buffer) => unknown): void {
    const { link, scheduler, random, defer } = this.#parts;
    if (link.answersCut || random.chance(link.loseAnswers)) {
      // A lost answer leaves the connection open until the deadline, or breaks it some time later.
      if (random.chance(0.3))
        scheduler.after(random.between(0, 20_000), () =>
          defer(() => this.#end(grpcError(status.UNAVAILABLE, "Connection dropped"))),
        );
      return;
    }
    scheduler.after(link.latencyMs(), () =>
      defer(() => {
        if (answer instanceof Error) this.#end(answer);
        else this.#end(null, decode(answer));
      }),
    );
  }

  #cancel(): void {
    const { scheduler, defer } = this.#parts;
    scheduler.after(0, () => defer(() => this.#end(grpcError(status.CANCELLED, "Cancelled on client"))));
  }

  #end(error: ServiceError | null, response?: unknown): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#stopClock();
    this.#callback(error, response);
  }
}

/** What a member or the network reports. */
function errorOf(error: ErrorKind, isEither: boolean, execute: () => Buffer): ServiceError | undefined {
  switch (error) {
    // etcd has no conflicts but those of a comparison.
    case "conflict":
      return undefined;
    case "throttled":
      return grpcError(status.RESOURCE_EXHAUSTED, "etcdserver: too many requests");
    case "denied":
      return grpcError(status.PERMISSION_DENIED, "etcdserver: permission denied");
    case "internal":
      if (isEither) execute();
      return grpcError(status.UNAVAILABLE, "etcdserver: request timed out");
    case "unavailable":
      return grpcError(status.UNAVAILABLE, "etcdserver: no leader");
    case "proxy":
      return grpcError(status.UNKNOWN, "Received HTTP status code 502");
    case "network":
      return grpcError(status.UNAVAILABLE, noConnection);
    case "cut":
      execute();
      return grpcError(status.UNAVAILABLE, "Connection dropped");
  }
}
