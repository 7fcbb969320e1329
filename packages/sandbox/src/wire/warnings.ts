/**
 * Warning headers. A client may send more that is worth a warning than any client reads in headers, so warnings are
 * cut, and then left out, by the limits of Kubernetes.
 */

/** In characters. As long as all warnings fit, none is cut. */
const maxTotal = 4 * 1024;
/** In characters. */
const maxEachWhenCut = 256;

export function warningHeaders(warnings: readonly string[]): string[] {
  const texts = [...new Set(warnings)].map((text) => [...text]);
  const total = texts.reduce((sum, text) => sum + text.length, 0);
  if (total <= maxTotal) return texts.map(header);
  let written = 0;
  const headers: string[] = [];
  for (const text of texts) {
    if (written >= maxTotal) break;
    const cut = text.slice(0, maxEachWhenCut);
    written += cut.length;
    headers.push(header(cut));
  }
  return headers;
}

/** The text goes out as UTF-8, as Go sends it. What came from a client was quoted, and has no control characters left. */
function header(text: readonly string[]): string {
  const quoted = `299 - "${text.join("").replace(/[\\"]/g, "\\$&")}"`;
  return Buffer.from(quoted).toString("latin1");
}
