/**
 * Streams one watch to a client. A client that does not read is disconnected before it fills the memory, as in
 * Kubernetes.
 */
import type { ServerResponse } from "node:http";
import type { FaultTarget } from "../control/fault.ts";
import type { FaultInjector } from "../control/fault-injector.ts";
import type { Sink } from "../registry/context.ts";

const maxUnreadBytes = 8 * 1024 * 1024;

export function openStream(
  faults: FaultInjector,
  target: FaultTarget,
  response: ServerResponse,
  start: (sink: Sink) => void,
): void {
  response.setHeader("Cache-Control", "no-cache, private");
  response.setHeader("Content-Type", "application/json");
  response.writeHead(200);
  response.flushHeaders();
  response.socket?.setNoDelay(true);

  /** The lines that a stalled watch has not sent yet. */
  let held: string[] | undefined;
  let heldCharacters = 0;
  let ended = false;
  const write = (text: string) => {
    response.write(text);
    if (response.writableLength > maxUnreadBytes) response.destroy();
  };
  const callbacks: (() => void)[] = [];
  const stop = faults.watchStarted({
    target,
    stall() {
      held ??= [];
    },
    resume() {
      const lines = held ?? [];
      held = undefined;
      heldCharacters = 0;
      for (const line of lines) write(line);
      if (ended) response.end();
    },
    disconnect: () => response.destroy(),
  });
  callbacks.push(stop);
  response.once("close", () => {
    for (const callback of callbacks) callback();
  });
  if (response.destroyed) return;
  start({
    write(text) {
      if (!held) return write(text);
      held.push(text);
      heldCharacters += text.length;
      if (heldCharacters > maxUnreadBytes) response.destroy();
    },
    end() {
      // A stall delays the end of the stream too.
      ended = true;
      if (!held) response.end();
    },
    onClose: (callback) => callbacks.push(callback),
  });
}
