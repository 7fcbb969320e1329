/**
 * Follows the pod that a person names in a file, for example in a mounted ConfigMap.
 * Not promised: mutual exclusion. The kubelet updates a mounted file within about a minute, in each pod at a different
 * time. During that minute two pods may both be named, or none. An election has no such window.
 */
import { readFile } from "node:fs/promises";
import { type Clock, messageOf, sleep, systemClock } from "@tenure/base";
import { TrafficError } from "../errors.ts";
import { Follower, type FollowOptions } from "./follower.ts";

export interface FollowFileOptions extends FollowOptions {
  /** @default "/config/leader" */
  readonly path?: string;
  /**
   * How often the file is read. A mounted file is replaced by moving a symbolic link, which no file watch reports
   * reliably. @default 1_000
   */
  readonly intervalMs?: number;
  /** @default the system clock */
  readonly clock?: Clock;
}

const defaultPath = "/config/leader";
const defaultIntervalMs = 1_000;

/** Resolves after the signal has aborted. A file that cannot be read names no pod. */
export async function followFile(options: FollowFileOptions): Promise<void> {
  const { path = defaultPath, intervalMs = defaultIntervalMs, clock = systemClock, signal } = options;
  const follower = new Follower(options);
  let lastError: string | undefined;
  while (!signal.aborted) {
    try {
      await follower.update(await readFile(path, "utf8"));
      lastError = undefined;
    } catch (error) {
      // A pod that cannot read the name must not receive traffic.
      await follower.update(undefined);
      const message = messageOf(error);
      if (message !== lastError) {
        follower.report(
          new TrafficError("CannotFollow", `Cannot read the name of the pod from ${path}: ${message}.`, {
            cause: error,
          }),
        );
      }
      lastError = message;
    }
    await sleep(clock, intervalMs, signal);
  }
  await follower.stop();
}
