/** Waits for several turns of the event loop: an event may take a few turns to pass through a stream and the consumer. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 6; turn++) await new Promise((resolve) => setImmediate(resolve));
}
