// @ts-check
/**
 * Puts what is asked for at the same time into one call: while a call is under way the next ones gather. Each is told of the end
 * of the call that carried it, so that a message counts as finished only when the service knows of it.
 * @template Item
 * @param {(items: [Item, ...Item[]]) => Promise<unknown>} send
 * @returns {(item: Item) => Promise<void>}
 */
export function inBatches(send) {
  /** @type {{ item: Item, resolve: () => void, reject: (error: unknown) => void }[]} */
  let gathered = [];
  let isSending = false;

  async function sendAll() {
    isSending = true;
    while (gathered.length > 0) {
      const batch = gathered;
      gathered = [];
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
      gathered.push({ item, resolve, reject });
      // In the next turn, so that those which begin together go together.
      if (!isSending) {
        isSending = true;
        setImmediate(sendAll);
      }
    });
}
