/**
 * A connection to one member of an etcd cluster. When the member does not answer, the connection moves on to the next one. A
 * request that was interrupted may have been performed; it is safe to send a compare-and-swap again, because it then finds that
 * the key has changed.
 *
 * Every request asks the member to reject it if the member is cut off from the majority.
 */
import {
  Client,
  type ClientDuplexStream,
  type ClientUnaryCall,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import { type Clock, onAbort } from "@tenure/base";
import { readEndpoints } from "./endpoints.ts";
import { detailsOf, grpcCode, isTokenExpired, RequestAborted } from "./server-error.ts";
import { authenticate, type Procedure } from "./wire/messages.ts";

export interface ConnectionOptions {
  readonly endpoints: readonly string[];
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly tls?: EtcdTls | undefined;
}

/** Certificates in PEM. */
export interface EtcdTls {
  /** The authorities that may sign the certificate of a member. @default those of Node */
  readonly ca?: string;
  /** The certificate of this client. @default none */
  readonly cert?: string;
  /** The key of `cert`. @default none */
  readonly key?: string;
}

/** The part of a gRPC client that a connection uses. */
export type GrpcClient = Pick<Client, "makeUnaryRequest" | "makeBidiStreamRequest" | "close">;

/** Opens a client of one member. A simulation replaces it. @param tls undefined: without TLS */
export type OpenClient = (address: string, tls: EtcdTls | undefined) => GrpcClient;

const channelOptions = {
  // etcd closes connections that ping more often than every 5 s.
  "grpc.keepalive_time_ms": 10_000,
  "grpc.keepalive_timeout_ms": 5_000,
  "grpc.use_local_subchannel_pool": 1,
  "grpc.enable_retries": 0,
  "grpc.max_receive_message_length": -1,
  "grpc.initial_reconnect_backoff_ms": 200,
  "grpc.max_reconnect_backoff_ms": 2_000,
};

const openClient: OpenClient = (address, tls) => {
  const pem = (text: string | undefined) => (text === undefined ? null : Buffer.from(text));
  const secured = tls && credentials.createSsl(pem(tls.ca), pem(tls.key), pem(tls.cert));
  return new Client(address, secured ?? credentials.createInsecure(), channelOptions);
};

/** etcd does not know these credentials, because it does not ask for any. */
const authenticationIsOff = /authentication is not enabled/;

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #addresses: readonly string[];
  readonly #isTls: boolean;
  readonly #clock: Clock;
  readonly #open: OpenClient;
  #client: GrpcClient | undefined;
  #member = 0;
  #inFlight = 0;
  #token: string | undefined;

  constructor(options: ConnectionOptions, clock: Clock, open: OpenClient = openClient) {
    this.#options = options;
    this.#open = open;
    const { addresses, isTls } = readEndpoints(options.endpoints);
    this.#addresses = addresses;
    this.#isTls = isTls;
    this.#clock = clock;
  }

  /**
   * Calls a procedure. Tries each member once if it is unavailable. Rejects if the signal aborts.
   * @param isRepeatable false if the caller must learn that the request may have been performed
   */
  async call<Request, Response>(
    procedure: Procedure<Request, Response>,
    request: Request,
    signal: AbortSignal,
    limitMs: number,
    isRepeatable = true,
  ): Promise<Response> {
    this.#inFlight += 1;
    try {
      return await this.#call(procedure, request, signal, limitMs, isRepeatable);
    } finally {
      this.#inFlight -= 1;
    }
  }

  async #call<Request, Response>(
    procedure: Procedure<Request, Response>,
    request: Request,
    signal: AbortSignal,
    limitMs: number,
    isRepeatable: boolean,
  ): Promise<Response> {
    let hasNewToken = false;
    for (let attempt = 1; ; attempt++) {
      try {
        const metadata = await this.#metadata(signal, limitMs);
        return await this.#send(procedure, request, metadata, signal, limitMs);
      } catch (error) {
        if (error instanceof RequestAborted) throw error;
        if (isTokenExpired(error) && this.#token !== undefined && !hasNewToken) {
          this.#token = undefined;
          hasNewToken = true;
        } else if (grpcCode(error) !== status.UNAVAILABLE || attempt >= this.#addresses.length) throw error;
        // Only a request that was never sent may be repeated then.
        else if (!isRepeatable && !/^No connection established/.test(detailsOf(error))) throw error;
      }
    }
  }

  /** Opens a stream to the current member. The caller cancels it. */
  async stream<Request, Response>(
    procedure: Procedure<Request, Response>,
    signal: AbortSignal,
    limitMs: number,
  ): Promise<ClientDuplexStream<Request, Response>> {
    const metadata = await this.#metadata(signal, limitMs);
    return this.#current().makeBidiStreamRequest(
      procedure.path,
      procedure.encode,
      procedure.decode as (bytes: Buffer) => Response,
      metadata,
    );
  }

  /** A stream failed. If its token was the reason, the next one gets a new token. */
  streamFailed(error: unknown): void {
    if (isTokenExpired(error)) this.#token = undefined;
    this.moveOn();
  }

  /** Leaves this member for the next one, with a new connection. */
  moveOn(): void {
    this.close();
    this.#member = (this.#member + 1) % this.#addresses.length;
  }

  close(): void {
    this.#client?.close();
    this.#client = undefined;
  }

  /** Closes the connection unless a call uses it: the lock of a run that ended may already serve the next run. */
  closeIfIdle(): void {
    if (this.#inFlight === 0) this.close();
  }

  async #metadata(signal: AbortSignal, limitMs: number): Promise<Metadata> {
    const metadata = new Metadata();
    metadata.set("hasleader", "true");
    const { username, password = "" } = this.#options;
    if (username === undefined) return metadata;
    this.#token ??= await this.#send(
      authenticate,
      { name: username, password },
      new Metadata(),
      signal,
      limitMs,
    ).then(
      ({ token }) => token,
      (error) => {
        if (authenticationIsOff.test(detailsOf(error))) return "";
        throw error;
      },
    );
    if (this.#token !== "") metadata.set("token", this.#token);
    return metadata;
  }

  #send<Request, Response>(
    { path, encode, decode }: Procedure<Request, Response>,
    request: Request,
    metadata: Metadata,
    signal: AbortSignal,
    limitMs: number,
  ): Promise<Response> {
    if (signal.aborted)
      return Promise.reject(new RequestAborted("the request was aborted before it was sent"));
    const deadline = new Date(this.#clock.now().wallMs + limitMs);
    return new Promise((resolve, reject) => {
      let call: ClientUnaryCall | undefined;
      const off = onAbort(signal, () => call?.cancel());
      const onAnswer = (error: ServiceError | null, response?: Response) => {
        off();
        if (!error) return resolve(response as Response);
        // Anything else is the member's answer, over a connection that works.
        const isBroken = [status.UNAVAILABLE, status.DEADLINE_EXCEEDED, status.CANCELLED].includes(
          error.code,
        );
        if (isBroken || signal.aborted) this.moveOn();
        return reject(signal.aborted ? new RequestAborted("no answer arrived in time") : error);
      };
      call = this.#current().makeUnaryRequest(
        path,
        encode,
        decode as (bytes: Buffer) => Response,
        request,
        metadata,
        { deadline },
        onAnswer,
      );
    });
  }

  #current(): GrpcClient {
    const tls = this.#isTls ? (this.#options.tls ?? {}) : undefined;
    this.#client ??= this.#open(this.#addresses[this.#member] as string, tls);
    return this.#client;
  }
}
