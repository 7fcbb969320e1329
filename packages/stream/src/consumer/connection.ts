/**
 * The current client. Every attempt to connect uses a new one, because a failed channel of grpc-js retries by its own back-off
 * of 1 s to 2 min, which would interfere with the back-off of the consumer.
 */
import { asError, warn } from "@tenure/base";
import { closeClient } from "./close-client.ts";
import type { ChannelOptions, GrpcClient } from "./server-stream.ts";

/** Servers allow one ping in this time by default, so no server requires fewer. */
const mostKeepaliveMs = 300_000;

export class Connection<Client extends GrpcClient> {
  readonly #newClient: (channelOptions: ChannelOptions) => Client;
  readonly #keepaliveTimeoutMs: number;
  readonly #maxMessageBytes: number;
  #keepaliveMs: number;
  #client: Client | undefined;

  constructor(
    newClient: (channelOptions: ChannelOptions) => Client,
    keepalive: { readonly everyMs: number; readonly timeoutMs: number },
    maxMessageBytes: number,
  ) {
    this.#newClient = newClient;
    this.#keepaliveMs = keepalive.everyMs;
    this.#keepaliveTimeoutMs = keepalive.timeoutMs;
    this.#maxMessageBytes = maxMessageBytes;
  }

  get client(): Client | undefined {
    return this.#client;
  }

  /** Replaces the client with a new one. Calls in flight on the old one still complete. */
  renew(): Client {
    this.close();
    this.#client = this.#newClient({
      "grpc.keepalive_time_ms": this.#keepaliveMs,
      "grpc.keepalive_timeout_ms": this.#keepaliveTimeoutMs,
      "grpc.max_receive_message_length": this.#maxMessageBytes,
      // In a shared pool, the back-off of another failed channel would delay this one.
      "grpc.use_local_subchannel_pool": 1,
    });
    return this.#client;
  }

  /** The server reported too many pings: from the next connection on, send half as many. */
  halvePings(): void {
    this.#keepaliveMs = Math.max(this.#keepaliveMs, Math.min(this.#keepaliveMs * 2, mostKeepaliveMs));
  }

  close(): void {
    const client = this.#client;
    this.#client = undefined;
    if (!client) return;
    try {
      closeClient(client);
    } catch (error) {
      warn(asError(error));
    }
  }
}
