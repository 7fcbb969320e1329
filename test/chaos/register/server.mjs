// @ts-check
/**
 * The process with both registers. Nothing else runs in it, so its timer shows when the machine is too busy to run processes.
 *
 * Workers connect by TCP and send one line of JSON for each operation. The test sends messages over IPC.
 */
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { HistoryFile, nowMs } from "../history/history.mjs";
import { Register } from "./register.mjs";

const tickMs = 20;
/** A shorter delay is normal. */
const leastStallMs = 100;

/** @type {Record<import("../history/history.mjs").RegisterName, Register>} */
const registers = { fenced: new Register(true), open: new Register(false) };
const history = new HistoryFile(/** @type {string} */ (process.argv[2]));

/** @typedef {{ op: number, register: import("../history/history.mjs").RegisterName, token: string, value?: string }} Request */

const server = createServer((socket) => {
  const lines = createInterface({ input: socket });
  // A worker was killed. The interface repeats the error of its socket.
  for (const source of [socket, lines]) source.on("error", () => socket.destroy());
  lines.on("line", (line) => {
    const { op, register, token, value } = /** @type {Request} */ (JSON.parse(line));
    const answer = { op, ...registers[register].apply(BigInt(token), value) };
    if (socket.writable) socket.write(`${JSON.stringify(answer)}\n`);
  });
});
server.listen(0, "127.0.0.1", () =>
  process.send?.({ port: /** @type {import("node:net").AddressInfo} */ (server.address()).port }),
);

process.on("message", (message) => {
  if (message === "count") {
    process.send?.({ writes: registers.fenced.seq });
    return;
  }
  for (const [name, register] of Object.entries(registers)) {
    register.forgetTokens();
    history.append({ kind: "reset", register: /** @type {"fenced" | "open"} */ (name), seq: register.seq });
  }
  process.send?.({ forgotten: true });
});
process.on("disconnect", () => process.exit(0));

let lastMs = nowMs();
setInterval(() => {
  const atMs = nowMs();
  if (atMs - lastMs > tickMs + leastStallMs)
    history.append({ kind: "stall", fromMs: lastMs + tickMs, toMs: atMs });
  lastMs = atMs;
}, tickMs);
