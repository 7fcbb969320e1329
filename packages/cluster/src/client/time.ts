/** Times in objects. */

/** A time as Kubernetes writes it: in whole seconds. */
export function formatTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace(/\.\d+Z$/, "Z");
}

/** Milliseconds since 1970. A missing or invalid time is 0. */
export function parseTime(time: string | null | undefined): number {
  const ms = Date.parse(time ?? "");
  return Number.isNaN(ms) ? 0 : ms;
}
