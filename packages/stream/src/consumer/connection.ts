/**
 * The client of the moment. Every try to connect has a new one: a channel of grpc-js that failed tries again by a clock of its
 * own, from 1 s to 2 min, and would neither wait as long nor come back as soon as the back-off says.
 */
import { asError } from "../errors.ts";
import { warn } from "../platform.ts";
import { release } from "./release.ts";
import type { ChannelOptions, GrpcClient } from "./server-stream.ts";

/** What servers allow by default, and therefore the slowest pings that a server can ask for. */
const mostKeepaliveMs = 300_000;

export class Connection<Client extends GrpcClient> {
  readonly #make: (channelOptions: ChannelOptions) => Client;
  readonly #keepaliveTimeoutMs: number;
  #keepaliveMs: number;
  #client: Client | undefined;

  constructor(
    make: (channelOptions: ChannelOptions) => Client,
    keepalive: { readonly everyMs: number; readonly timeoutMs: number },
  ) {
    this.#make = make;
    this.#keepaliveMs = keepalive.everyMs;
    this.#keepaliveTimeoutMs = keepalive.timeoutMs;
  }

  get client(): Client | undefined {
    return this.#client;
  }

  get keepaliveMs(): number {
    return this.#keepaliveMs;
  }

  /** Closes the client of before, if there is one, and makes another. Calls that are under way on the old one finish. */
  renew(): Client {
    this.close();
    this.#client = this.#make({
      "grpc.keepalive_time_ms": this.#keepaliveMs,
      "grpc.keepalive_timeout_ms": this.#keepaliveTimeoutMs,
      // A shared one would bring the back-off of some other channel that failed into this one.
      "grpc.use_local_subchannel_pool": 1,
    });
    return this.#client;
  }

  /** The server complained of too many pings: from the next connection on there are half as many. */
  calm(): void {
    this.#keepaliveMs = Math.max(this.#keepaliveMs, Math.min(this.#keepaliveMs * 2, mostKeepaliveMs));
  }

  close(): void {
    const client = this.#client;
    this.#client = undefined;
    if (!client) return;
    try {
      release(client);
    } catch (error) {
      warn(asError(error));
    }
  }
}
