/**
 * One watch on the wire. A client that does not read is cut off before it can fill the memory, as in Kubernetes.
 */
import type { ServerResponse } from "node:http";
import type { FaultTarget } from "../control/fault.ts";
import type { Faults } from "../control/fault-injector.ts";
import type { Sink } from "../registry/context.ts";

const maxUnreadBytes = 8 * 1024 * 1024;

export function openStream(
  faults: Faults,
  target: FaultTarget,
  response: ServerResponse,
  start: (sink: Sink) => void,
): void {
  response.setHeader("Cache-Control", "no-cache, private");
  response.setHeader("Content-Type", "application/json");
  response.writeHead(200);
  response.flushHeaders();
  response.socket?.setNoDelay(true);

  /** What a stalled watch keeps back. */
  let held: string[] | undefined;
  let heldCharacters = 0;
  let over = false;
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
      if (over) response.end();
    },
    cut: () => response.destroy(),
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
      // Its end is kept back like everything else.
      over = true;
      if (!held) response.end();
    },
    onClose: (callback) => callbacks.push(callback),
  });
}
