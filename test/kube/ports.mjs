// @ts-check
/**
 * Free loopback ports. They lie below every usual ephemeral range: a client that keeps dialling a server that is
 * down could otherwise be given that very port as its own, connect to itself, and keep the server from binding.
 *
 * Not promised: that nobody else takes a port before the server does. Callers start again with others.
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
      `Cannot find ${count} free loopback ports between ${lowest} and ${above}; stop what uses them`,
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
