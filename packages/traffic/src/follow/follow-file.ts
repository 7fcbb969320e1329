/**
 * Follows who is named in a file, such as a mounted ConfigMap that a person edits: the manual way.
 * Not promised: mutual exclusion. The kubelet updates such a file within about a minute, in each pod at its own time, so
 * that for so long two pods may both be named, or none. An election has no such time.
 */
import { readFile } from "node:fs/promises";
import type { Clock } from "@tenure/base";
import { messageOf, TrafficError } from "../errors.ts";
import { systemClock } from "../platform.ts";
import { Follower, type FollowOptions } from "./named.ts";

export interface FollowFileOptions extends FollowOptions {
  /** @default "/config/leader" */
  readonly path?: string;
  /** How often it is read: a mounted file is replaced behind a link, of which no watch tells reliably. @default 1_000 */
  readonly intervalMs?: number;
  /** @default the machine's */
  readonly clock?: Clock;
}

export const defaultFollowedFile = "/config/leader";
const defaultIntervalMs = 1_000;

/** Resolves when the signal has aborted. A file that is not there names nobody. */
export async function followFile(options: FollowFileOptions): Promise<void> {
  const { path = defaultFollowedFile, intervalMs = defaultIntervalMs, clock = systemClock, signal } = options;
  const follower = new Follower(options);
  let trouble: string | undefined;
  while (!signal.aborted) {
    try {
      await follower.heard(await readFile(path, "utf8"));
      trouble = undefined;
    } catch (error) {
      // Who cannot tell is not named.
      await follower.heard(undefined);
      const message = messageOf(error);
      if (message !== trouble) {
        follower.failed(
          new TrafficError("CannotFollow", `Cannot read who is named from ${path}: ${message}.`, {
            cause: error,
          }),
        );
      }
      trouble = message;
    }
    await pause(clock, intervalMs, signal);
  }
  await follower.end();
}

function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.at(clock.now().monoMs + ms, end);
    signal.addEventListener("abort", end, { once: true });
  });
}
