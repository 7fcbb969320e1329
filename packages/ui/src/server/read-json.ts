import type { IncomingMessage } from "node:http";

/** An order is a few hundred bytes. */
const mostBytes = 16 * 1024;

/** The body of a request. An empty object if it is too long, is not JSON, or does not say that it is JSON. */
export async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  // A page of another origin cannot send this type without asking first, and nobody answers that question.
  if (!/^application\/json\b/.test(request.headers["content-type"] ?? "")) return {};
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > mostBytes) return {};
    chunks.push(chunk);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
