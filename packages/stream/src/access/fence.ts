/**
 * Who works, and by which right, in the metadata of every call: a service that remembers the highest token it saw can refuse a
 * process that has not noticed yet that it lost.
 */
import { Metadata } from "@grpc/grpc-js";
import { environment } from "../platform.ts";

export interface Fence {
  /** The fencing token of the term. @default $TENURE_TOKEN */
  readonly token?: string | bigint | undefined;
  /** @default $TENURE_IDENTITY */
  readonly identity?: string | undefined;
  /** @default $TENURE_ELECTION */
  readonly election?: string | undefined;
}

/** The names under which a service finds them. */
export const fenceKeys = {
  token: "tenure-token",
  identity: "tenure-identity",
  election: "tenure-election",
} as const;

/** Metadata with what is known: outside of `tenure run` it is empty. */
export function fenceMetadata(fence: Fence = {}): Metadata {
  const metadata = new Metadata();
  const values = {
    token: fence.token ?? environment("TENURE_TOKEN"),
    identity: fence.identity ?? environment("TENURE_IDENTITY"),
    election: fence.election ?? environment("TENURE_ELECTION"),
  };
  for (const [name, key] of Object.entries(fenceKeys)) {
    const value = values[name as keyof Fence];
    if (value !== undefined) metadata.set(key, String(value));
  }
  return metadata;
}
