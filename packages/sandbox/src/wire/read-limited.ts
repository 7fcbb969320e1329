/** Reads a request body, and never holds more of it than the API accepts. */
import type { IncomingMessage } from "node:http";
import { badRequest, tooLarge } from "../objects/status.ts";
import { maxBodyBytes } from "../registry/body.ts";

/**
 * Many clients do not read a response while they are sending. The rest of a body is therefore read and dropped, up to
 * this limit.
 */
const maxDrainedBytes = 64 * 1024 * 1024;

export function readLimited(incoming: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let size = 0;
    incoming.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBodyBytes) chunks.push(chunk);
      else chunks = [];
      if (size > maxDrainedBytes) incoming.destroy();
    });
    incoming.on("end", () => {
      if (size > maxBodyBytes) reject(tooLarge(maxBodyBytes));
      else resolve(Buffer.concat(chunks));
    });
    incoming.on("error", () => reject(badRequest("the body could not be read")));
    incoming.on("close", () => {
      if (!incoming.complete) reject(badRequest("the body ended early"));
    });
  });
}
