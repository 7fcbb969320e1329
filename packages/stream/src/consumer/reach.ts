/**
 * Waits until a client's connection stands, or fails at the first refusal: when to try again is decided by whoever asked.
 */
import { StreamError } from "../errors.ts";
import type { Clock } from "../platform.ts";
import type { GrpcClient } from "./server-stream.ts";

// grpc-js has them as a const enum of numbers; they are part of gRPC's interface and do not change.
const ready = 2;
const transientFailure = 3;
const shutDown = 4;

export interface Reaching {
  /** Rejects with a StreamError `Unreachable`. */
  readonly done: Promise<void>;
  cancel(): void;
}

export function reach(client: GrpcClient, clock: Clock, timeoutMs: number): Reaching {
  let settle = (_error?: StreamError) => {};
  let isSettled = false;
  const done = new Promise<void>((resolve, reject) => {
    settle = (error) => {
      if (isSettled) return;
      isSettled = true;
      cancelTimer();
      if (error) reject(error);
      else resolve();
    };
  });
  const cancelTimer = clock.after(timeoutMs, () =>
    settle(new StreamError("Unreachable", `no connection within ${timeoutMs} ms`)),
  );
  const look = () => {
    if (isSettled) return;
    const channel = client.getChannel();
    const state = channel.getConnectivityState(true);
    if (state === ready) settle();
    else if (state === transientFailure)
      whyNot(client, (reason) => settle(new StreamError("Unreachable", reason)));
    else if (state === shutDown) settle(new StreamError("Unreachable", "the client was closed"));
    else channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, look);
  };
  look();
  return { done, cancel: () => settle(new StreamError("Unreachable", "no longer wanted")) };
}

/** A channel tells only that it failed. A call on it fails without leaving this process, and tells why. */
function whyNot(client: GrpcClient, tell: (reason: string) => void): void {
  const unknown = "the connection failed";
  if (!client.makeUnaryRequest) {
    tell(unknown);
    return;
  }
  const nothing = () => Buffer.alloc(0);
  client.makeUnaryRequest("/tenure.Connection/Why", nothing, nothing, undefined, (error) =>
    tell((error as { details?: string } | null)?.details || unknown),
  );
}
