/**
 * A map that is ordered by key, so that a page of it costs a page. The keys are in chunks of limited size: an insertion
 * moves the keys of one chunk, and a search skips whole chunks.
 */

const maxChunk = 512;

export class SortedMap<Value> {
  readonly #values = new Map<string, Value>();
  /** Sorted, and none is empty. */
  #chunks: string[][] = [];

  get size(): number {
    return this.#values.size;
  }

  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: Value): void {
    if (!this.#values.has(key)) this.#insert(key);
    this.#values.set(key, value);
  }

  delete(key: string): void {
    if (!this.#values.delete(key)) return;
    const { chunk, index } = this.#find(key);
    (this.#chunks[chunk] as string[]).splice(index, 1);
    if (this.#chunks[chunk]?.length === 0) this.#chunks.splice(chunk, 1);
  }

  /** The values whose keys are not less than `from`, in order. */
  *from(from: string): Generator<Value> {
    let { chunk, index } = this.#find(from);
    for (; chunk < this.#chunks.length; chunk++, index = 0) {
      const keys = this.#chunks[chunk] as string[];
      for (; index < keys.length; index++) yield this.#values.get(keys[index] as string) as Value;
    }
  }

  /** How many keys are less than `key`. */
  rank(key: string): number {
    const { chunk, index } = this.#find(key);
    let count = index;
    for (let before = 0; before < chunk; before++) count += (this.#chunks[before] as string[]).length;
    return count;
  }

  #insert(key: string): void {
    const { chunk, index } = this.#find(key);
    // A key behind the last one goes into the last chunk.
    const last = this.#chunks.length - 1;
    if (last < 0) {
      this.#chunks.push([key]);
      return;
    }
    const target = Math.min(chunk, last);
    const keys = this.#chunks[target] as string[];
    keys.splice(chunk > last ? keys.length : index, 0, key);
    if (keys.length > maxChunk) this.#chunks.splice(target + 1, 0, keys.splice(maxChunk / 2));
  }

  /** The place of the first key that is not less than `key`. The chunk can be one behind the last. */
  #find(key: string): { chunk: number; index: number } {
    const chunk = lowerBound(this.#chunks.length, (at) => (this.#chunks[at]?.at(-1) as string) < key);
    const keys = this.#chunks[chunk] ?? [];
    return { chunk, index: lowerBound(keys.length, (at) => (keys[at] as string) < key) };
  }
}

/** The first of `count` places for which `isBefore` is false. */
function lowerBound(count: number, isBefore: (place: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
