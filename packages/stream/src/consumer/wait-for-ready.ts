/** Waits until a client is connected. Rejects at the first failure: the caller decides when to retry. */
import { after, type Clock } from "@tenure/base";
import { StreamError } from "../errors.ts";
import type { GrpcClient } from "./server-stream.ts";

// Connectivity states. grpc-js declares them as a const enum; the numbers are part of gRPC's interface and do not change.
const ready = 2;
const transientFailure = 3;
const shutDown = 4;

interface ReadyWait {
  /** Rejects with a StreamError `Unreachable`. */
  readonly done: Promise<void>;
  cancel(): void;
}

export function waitForReady(client: GrpcClient, clock: Clock, timeoutMs: number): ReadyWait {
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
  const cancelTimer = after(clock, timeoutMs, () =>
    settle(new StreamError("Unreachable", `no connection within ${timeoutMs} ms`)),
  );
  const check = () => {
    if (isSettled) return;
    const channel = client.getChannel();
    const state = channel.getConnectivityState(true);
    if (state === ready) settle();
    else if (state === transientFailure)
      findReason(client, (reason) => settle(new StreamError("Unreachable", reason)));
    else if (state === shutDown) settle(new StreamError("Unreachable", "the client was closed"));
    else channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, check);
  };
  check();
  return { done, cancel: () => settle(new StreamError("Unreachable", "the wait was cancelled")) };
}

/** A channel reports only that it failed. A call on it fails without leaving this process, and reports the reason. */
function findReason(client: GrpcClient, onReason: (reason: string) => void): void {
  const unknown = "the connection failed";
  if (!client.makeUnaryRequest) {
    onReason(unknown);
    return;
  }
  const nothing = () => Buffer.alloc(0);
  client.makeUnaryRequest("/tenure.Connection/Why", nothing, nothing, undefined, (error) =>
    onReason((error as { details?: string } | null)?.details || unknown),
  );
}
