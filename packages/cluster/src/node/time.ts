/** Times as the API writes them. */

/** Whole seconds: 2026-01-02T03:04:05Z. */
export function formatTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace(/\.\d+Z$/, "Z");
}

/** With microseconds, as in a Lease. */
export function formatMicroTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace(/Z$/, "000Z");
}
