// @ts-check
/** Ports that nobody uses at present. Another process may take one before it is used. */
import { once } from "node:events";
import { createServer } from "node:net";

/** @param {number} count @returns {Promise<number[]>} */
export async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map(
    (server) => /** @type {import("node:net").AddressInfo} */ (server.address()).port,
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
