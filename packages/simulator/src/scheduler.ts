/** Virtual time: a queue of actions. Nothing really waits: an hour takes only as long as its actions take to run. */

interface Item {
  readonly atMs: number;
  readonly order: number;
  action: (() => void) | undefined;
}

export class Scheduler {
  readonly #heap: Item[] = [];
  #order = 0;
  #nowMs = 0;

  /** The true time, which no process can see. */
  get nowMs(): number {
    return this.#nowMs;
  }

  at(atMs: number, action: () => void): () => void {
    const item: Item = { atMs: Math.max(atMs, this.#nowMs), order: this.#order++, action };
    this.#push(item);
    return () => {
      item.action = undefined;
    };
  }

  after(delayMs: number, action: () => void): () => void {
    return this.at(this.#nowMs + delayMs, action);
  }

  /** Runs all actions up to `endMs`. After each, `settle` waits for the promises that the action resolved. */
  async run(endMs: number, settle: () => Promise<void>): Promise<void> {
    for (let item = this.#heap[0]; item && item.atMs <= endMs; item = this.#heap[0]) {
      this.#pop();
      if (!item.action) continue;
      this.#nowMs = item.atMs;
      item.action();
      await settle();
    }
    this.#nowMs = endMs;
  }

  #push(item: Item): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(item);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(item, heap[parent] as Item)) break;
      heap[index] = heap[parent] as Item;
      index = parent;
    }
    heap[index] = item;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as Item;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Item, heap[child] as Item)) child += 1;
      if (!isBefore(heap[child] as Item, last)) break;
      heap[index] = heap[child] as Item;
      index = child;
    }
    heap[index] = last;
  }
}

function isBefore(a: Item, b: Item): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
