/**
 * Leases of etcd for events: etcd deletes an event an hour after its last change, even if no server runs then. One lease serves all
 * events of a minute, as in kube-apiserver, because many leases cost etcd more than the events.
 */
import type { Clock } from "@tenure/base";

/** An event lives for at least this long. */
const eventSeconds = 3_600;
/** How long a lease is given to further events. It lives that much longer. */
const sharedSeconds = 60;

export function isEventKey(key: string): boolean {
  return key.startsWith("/registry/events/");
}

export class EventLeases {
  readonly #clock: Clock;
  readonly #grant: (seconds: number) => Promise<bigint>;
  #current: { readonly lease: Promise<bigint>; readonly sinceMs: number } | undefined;

  constructor(clock: Clock, grant: (seconds: number) => Promise<bigint>) {
    this.#clock = clock;
    this.#grant = grant;
  }

  /** The lease for an event that is written now. */
  async current(): Promise<bigint> {
    const nowMs = this.#clock.now().monoMs;
    if (!this.#current || nowMs - this.#current.sinceMs >= sharedSeconds * 1_000) {
      const lease = this.#grant(eventSeconds + sharedSeconds);
      const current = { lease, sinceMs: nowMs };
      this.#current = current;
      // The next event tries again.
      lease.catch(() => {
        if (this.#current === current) this.#current = undefined;
      });
    }
    return this.#current.lease;
  }
}
