/**
 * Writes of a controller that its informer has not shown yet. A controller whose writes are outstanding does not decide again,
 * because it would count pods that it just created as missing. Kubernetes counts such writes. Here each has a name, so that a
 * write whose answer was lost can be repeated with the same name: it happens once, however often it is sent.
 */

/** A write that is not visible yet. */
interface Outstanding {
  readonly kind: "create" | "delete";
  readonly sinceMs: number;
  /** The answer was lost. The write has to be sent again. */
  isUnknown: boolean;
}

/** After this time a write counts as visible, in case its event was never delivered. */
const expiresMs = 5 * 60_000;

export class Expectations {
  readonly #owners = new Map<string, Map<string, Outstanding>>();

  /** @param item the key of a pod that is created, or the uid of one that is deleted */
  expect(owner: string, kind: Outstanding["kind"], item: string, nowMs: number): void {
    const items = this.#owners.get(owner) ?? new Map<string, Outstanding>();
    this.#owners.set(owner, items.set(item, { kind, sinceMs: nowMs, isUnknown: false }));
  }

  /** The write is visible, or it certainly did not happen. */
  settle(owner: string, item: string): void {
    const items = this.#owners.get(owner);
    items?.delete(item);
    if (items?.size === 0) this.#owners.delete(owner);
  }

  /** The answer to the write was lost. */
  markUnknown(owner: string, item: string): void {
    const outstanding = this.#owners.get(owner)?.get(item);
    if (outstanding) outstanding.isUnknown = true;
  }

  /** The answer to the repeated write has arrived. */
  markSent(owner: string, item: string): void {
    const outstanding = this.#owners.get(owner)?.get(item);
    if (outstanding) outstanding.isUnknown = false;
  }

  /** The writes to send again. */
  unknown(owner: string, kind: Outstanding["kind"]): string[] {
    return [...(this.#owners.get(owner) ?? [])]
      .filter(([, outstanding]) => outstanding.isUnknown && outstanding.kind === kind)
      .map(([item]) => item);
  }

  isSatisfied(owner: string, nowMs: number): boolean {
    const items = [...(this.#owners.get(owner)?.values() ?? [])];
    return items.every(({ sinceMs }) => nowMs - sinceMs > expiresMs);
  }

  forget(owner: string): void {
    this.#owners.delete(owner);
  }
}
