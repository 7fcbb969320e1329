// @ts-check
/**
 * Combines items into one call: while a call is in flight, further items queue up for the next call. Each item's promise settles
 * with the call that carried it, so that an order counts as finished only when the service knows it.
 * @template Item
 * @param {(items: [Item, ...Item[]]) => Promise<unknown>} send
 * @returns {(item: Item) => Promise<void>}
 */
export function inBatches(send) {
  /** @type {{ item: Item, resolve: () => void, reject: (error: unknown) => void }[]} */
  let queued = [];
  let isSending = false;

  async function sendAll() {
    isSending = true;
    while (queued.length > 0) {
      const batch = queued;
      queued = [];
      try {
        await send(/** @type {[Item, ...Item[]]} */ (batch.map(({ item }) => item)));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isSending = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      queued.push({ item, resolve, reject });
      // In the next turn of the event loop, so that items of the same turn share a call.
      if (!isSending) {
        isSending = true;
        setImmediate(sendAll);
      }
    });
}
