export function overrunMessage(lock: string): string {
  return (
    `tenure: the term of ${lock} is over and its work has not stopped by the hard deadline; ending the process, ` +
    "because another replica may start now. Let the work heed term.signal, or leave it more time between renewDeadline and leaseDuration."
  );
}
