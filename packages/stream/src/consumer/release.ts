/**
 * Closes a client and what grpc-js would leave of it. Closing it does not end a connection that was never answered: it is waited
 * for without end, and its socket kept (grpc/grpc-node#2785). Nor does it end the back-off of one that failed: a second later that
 * connects once more, for nobody, and if it succeeds stays open for ever. There is no public way to either: this one looks inside, and
 * where the inside looks different only closes the client.
 */
import type { GrpcClient } from "./server-stream.ts";

interface Inside {
  readonly internalChannel?: {
    readonly subchannelPool?: {
      readonly pool?: Record<string, readonly { readonly subchannel?: Subchannel }[]>;
    };
  };
}

interface Subchannel {
  readonly backoffTimeout?: { stop?(): void };
  /** Its session is set while a connection is being made. */
  readonly connector?: { readonly session?: { destroy?(): void } | null };
}

export function release(client: GrpcClient): void {
  const { internalChannel } = client.getChannel() as Inside;
  for (const entries of Object.values(internalChannel?.subchannelPool?.pool ?? {})) {
    for (const { subchannel } of entries) {
      subchannel?.backoffTimeout?.stop?.();
      subchannel?.connector?.session?.destroy?.();
    }
  }
  client.close();
}
