// @ts-check
/**
 * Finds free loopback ports below every common ephemeral range. In that range, a client that keeps connecting to a stopped
 * server could get the port of the server as its own, connect to itself, and prevent the server from binding.
 *
 * Not promised: that no other process takes a port first. Callers then retry with other ports.
 */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

const lowest = 20_000;
const above = 30_000;
const attempts = 100;

/**
 * @param {number} count
 * @returns {Promise<number[]>} distinct ports
 */
export async function freePorts(count) {
  /** @type {Set<number>} */
  const ports = new Set();
  for (let attempt = 0; attempt < attempts && ports.size < count; attempt += 1) {
    const port = randomInt(lowest, above);
    if (!ports.has(port) && (await isFree(port))) ports.add(port);
  }
  if (ports.size < count) {
    throw new Error(
      `Cannot find ${count} free loopback ports between ${lowest} and ${above}; stop the processes that use them`,
    );
  }
  return [...ports];
}

/** @param {number} port */
async function isFree(port) {
  const server = createServer();
  try {
    server.listen({ port, host: "127.0.0.1", exclusive: true });
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
