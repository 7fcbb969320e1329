/**
 * Warning headers. Clients limit the size of headers, so long warnings are truncated and excess warnings are dropped,
 * with the limits of Kubernetes.
 */

/** In characters. Below this total no warning is truncated. */
const maxTotal = 4 * 1024;
/** In characters. */
const maxTruncated = 256;

export function warningHeaders(warnings: readonly string[]): string[] {
  if (warnings.length === 0) return [];
  const texts = [...new Set(warnings)].map((text) => [...text]);
  const total = texts.reduce((sum, text) => sum + text.length, 0);
  if (total <= maxTotal) return texts.map(header);
  let written = 0;
  const headers: string[] = [];
  for (const text of texts) {
    if (written >= maxTotal) break;
    const truncated = text.slice(0, maxTruncated);
    written += truncated.length;
    headers.push(header(truncated));
  }
  return headers;
}

/** The text is sent as UTF-8, as Go does. Text from clients is quoted, so it contains no control characters. */
function header(text: readonly string[]): string {
  const quoted = `299 - "${text.join("").replace(/[\\"]/g, "\\$&")}"`;
  return Buffer.from(quoted).toString("latin1");
}
