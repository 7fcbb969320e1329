/**
 * The fencing token and the identity in the metadata of every call. A service that remembers the highest token can reject a
 * process that has lost leadership and has not noticed yet.
 */
import { Metadata } from "@grpc/grpc-js";
import { environment } from "../platform.ts";

export interface Fence {
  /** The fencing token of the term. @default $TENURE_TOKEN */
  readonly token?: string | bigint | undefined;
  /** The identity of the candidate. @default $TENURE_IDENTITY */
  readonly identity?: string | undefined;
  /** The name of the election. @default $TENURE_ELECTION */
  readonly election?: string | undefined;
}

/** The names of the metadata keys. */
const fenceKeys = {
  token: "tenure-token",
  identity: "tenure-identity",
  election: "tenure-election",
} as const;

/** Metadata with the values that are known. Outside of `tenure run` it is empty by default. */
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
