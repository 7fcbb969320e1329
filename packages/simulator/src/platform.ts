/** Resolves in the next turn of the event loop, after all promises that are ready to continue. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
