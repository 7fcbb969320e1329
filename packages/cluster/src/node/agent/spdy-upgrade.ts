/** Connections on which kubectl before 1.31 speaks SPDY/3.1, without a WebSocket around it. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { AgentError } from "./agent-error.ts";

const upgrade = "SPDY/3.1";
const protocolHeader = "x-stream-protocol-version";

export const isSpdy = ({ headers }: IncomingMessage) => headers.upgrade?.toUpperCase() === upgrade;

/** Accepts the upgrade with the first supported protocol that the client offers. */
export function acceptSpdy({ headers }: IncomingMessage, socket: Duplex, supported: readonly string[]): void {
  const offered = String(headers[protocolHeader] ?? "")
    .split(",")
    .map((name) => name.trim());
  const protocol = supported.find((name) => offered.includes(name));
  if (protocol === undefined) {
    const names = supported.join(", ");
    throw new AgentError(403, `the protocols ${offered.join(", ")} are not supported: use one of ${names}`);
  }
  const lines = [
    "HTTP/1.1 101 Switching Protocols",
    `Upgrade: ${upgrade}`,
    "Connection: Upgrade",
    `${protocolHeader}: ${protocol}`,
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
}
