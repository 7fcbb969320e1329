/** What all controllers have in common. */
import type { ApiClient } from "../client/api.ts";
import type { EventRecorder } from "../client/event-recorder.ts";
import type { Informers } from "../client/informers.ts";
import type { WorkQueue } from "../client/work-queue.ts";
import type { Platform } from "../platform.ts";

export interface ControllerContext {
  /** Rejects writes when the term has ended. */
  readonly client: ApiClient;
  readonly platform: Platform;
  readonly informers: Informers;
  /** @param component the name of the controller in its events */
  recorder(component: string): EventRecorder;
  /** The work for an object failed. It is retried. */
  onError(error: unknown, key: string): void;
}

/** Registers a controller with the informers. Its queue runs when they are complete. */
export type Controller = (context: ControllerContext) => WorkQueue;
