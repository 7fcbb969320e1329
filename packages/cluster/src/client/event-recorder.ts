/**
 * Writes Events as the components of Kubernetes do: a repeated event counts up instead of adding another object. Events inform
 * people. A failed write is dropped, and nothing waits for one.
 */
import type { Platform } from "../platform.ts";
import { type ApiClient, collectionPath, objectPath, type Resource } from "./api.ts";
import type { KubeObject } from "./objects.ts";

export interface EventRecorderOptions {
  client: ApiClient;
  platform: Platform;
  /** The name of the component, as `kubectl describe` shows it. */
  component: string;
  /** The node that the component runs on, if it is a node agent. */
  host?: string | undefined;
}

/** What an event says. */
export interface Report {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

const events: Resource<KubeObject> = { apiVersion: "v1", kind: "Event", plural: "events", namespaced: true };
/** The events that are remembered, to count repetitions. */
const mostRemembered = 4096;
/** A repetition after this time is a new event. The API server forgets an event after an hour. */
const repeatMs = 10 * 60_000;

interface Remembered {
  readonly name: string;
  count: number;
  atMs: number;
}

export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #remembered = new Map<string, Remembered>();
  /** Writes go out one after the other, so that a count never overtakes its event. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  /** @param target the object that the event is about, with apiVersion and kind */
  record(target: KubeObject & { apiVersion: string; kind: string }, report: Report): void {
    this.#queue = this.#queue.then(() => this.#write(target, report)).catch(() => undefined);
  }

  /** Resolves when everything that was recorded is written, or has failed. */
  async flush(): Promise<void> {
    await this.#queue;
  }

  async #write(
    target: KubeObject & { apiVersion: string; kind: string },
    { type, reason, message }: Report,
  ): Promise<void> {
    const { client, platform, component, host } = this.#options;
    const { wallMs } = platform.clock.now();
    const { name, uid, resourceVersion, namespace } = target.metadata;
    const key = JSON.stringify([target.kind, namespace, name, uid, type, reason, message]);
    const eventNamespace = namespace || "default";
    const lastTimestamp = new Date(wallMs).toISOString().replace(/\.\d+Z$/, "Z");
    const known = this.#remembered.get(key);
    if (known && wallMs - known.atMs < repeatMs) {
      known.count += 1;
      known.atMs = wallMs;
      const path = objectPath(events, { namespace: eventNamespace, name: known.name });
      const contentType = "application/merge-patch+json";
      try {
        await client.request({
          method: "PATCH",
          path,
          body: { count: known.count, lastTimestamp },
          contentType,
        });
        return;
      } catch (error) {
        // It expired. Write it anew.
        if ((error as { code?: unknown }).code !== "NotFound") throw error;
      }
    }
    // The names that client-go generates: the object's name and the time in hexadecimal.
    const unique = (
      BigInt(Math.round(wallMs)) * 1_000_000n +
      BigInt(Math.floor(platform.random() * 1e6))
    ).toString(16);
    const eventName = `${name}.${unique}`;
    await client.request({
      method: "POST",
      path: collectionPath(events, eventNamespace),
      body: {
        apiVersion: "v1",
        kind: "Event",
        metadata: { name: eventName, namespace: eventNamespace },
        involvedObject: {
          apiVersion: target.apiVersion,
          kind: target.kind,
          name,
          uid,
          resourceVersion,
          ...(namespace ? { namespace } : {}),
        },
        reason,
        message,
        type,
        source: { component, ...(host ? { host } : {}) },
        reportingComponent: component,
        reportingInstance: host ?? "",
        firstTimestamp: lastTimestamp,
        lastTimestamp,
        count: 1,
      },
    });
    this.#remember(key, { name: eventName, count: 1, atMs: wallMs });
  }

  #remember(key: string, event: Remembered): void {
    this.#remembered.delete(key);
    this.#remembered.set(key, event);
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > mostRemembered && oldest !== undefined) this.#remembered.delete(oldest);
  }
}
