/**
 * Closes a client completely. `client.close()` of grpc-js leaves two things behind. A connection attempt that gets no response
 * is never ended, and its socket stays open (grpc/grpc-node#2785). The back-off of a failed connection goes on: a second later
 * it connects again, and that connection stays open. There is no public API for either, so this uses internal fields. If they
 * are missing, it only closes the client.
 */
import type { GrpcClient } from "./server-stream.ts";

interface ChannelInternals {
  readonly internalChannel?: {
    readonly subchannelPool?: {
      readonly pool?: Record<string, readonly { readonly subchannel?: Subchannel }[]>;
    };
  };
}

interface Subchannel {
  readonly backoffTimeout?: { stop?(): void };
  /** Has a session while it connects. */
  readonly connector?: { readonly session?: { destroy?(): void } | null };
}

export function closeClient(client: GrpcClient): void {
  const { internalChannel } = client.getChannel() as ChannelInternals;
  for (const entries of Object.values(internalChannel?.subchannelPool?.pool ?? {})) {
    for (const { subchannel } of entries) {
      subchannel?.backoffTimeout?.stop?.();
      subchannel?.connector?.session?.destroy?.();
    }
  }
  client.close();
}
