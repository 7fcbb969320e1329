/** Pods that fit nowhere, and when to try them again. */
import { backoffMs } from "@tenure/base";

interface Waiting {
  readonly attempts: number;
  readonly readyAtMs: number;
}

/** Between two attempts of a pod, as in Kubernetes. */
const backoff = { firstMs: 1_000, mostMs: 10_000, jitter: 0 };
/** After this time a pod is tried again, even if nothing changed. */
const longestWaitMs = 5 * 60_000;

export class WaitingPods {
  readonly #pods = new Map<string, Waiting>();

  /** Returns when to try the pod again, if nothing changes before. */
  add(key: string, nowMs: number): number {
    const attempts = (this.#pods.get(key)?.attempts ?? 0) + 1;
    this.#pods.set(key, { attempts, readyAtMs: nowMs + backoffMs(backoff, attempts, 0) });
    return longestWaitMs;
  }

  remove(key: string): void {
    this.#pods.delete(key);
  }

  /** Something changed: all pods, and how long each has to wait because of its earlier attempts. */
  due(nowMs: number): { key: string; inMs: number }[] {
    return [...this.#pods].map(([key, { readyAtMs }]) => ({ key, inMs: Math.max(readyAtMs - nowMs, 0) }));
  }
}
