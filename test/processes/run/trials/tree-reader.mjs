// @ts-check
/** Reads the pipes of the trees in its own thread, so that a busy main thread does not falsify the measured times. */
import { closeSync, constants, openSync, readSync } from "node:fs";
import { Socket } from "node:net";
import { createInterface } from "node:readline";
import { parentPort } from "node:worker_threads";

const port = /** @type {import("node:worker_threads").MessagePort} */ (parentPort);

/** How often to check whether a child has opened its end. */
const lookMs = 2;

port.on("message", (/** @type {{ id: number, path: string }} */ { id, path }) => void read(id, path));

/** @param {number} id @param {string} path */
async function read(id, path) {
  // Does not wait for a writer. A stream that is read before there is a writer ends at once.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  port.postMessage({ id, type: "open" });
  try {
    const first = await firstWriter(fd);
    const socket = new Socket({ fd, readable: true, writable: false });
    socket.on("end", () => port.postMessage({ id, type: "end", at: Date.now() }));
    socket.on("error", (error) => port.postMessage({ id, type: "failed", message: error.message }));
    createInterface({ input: socket }).on("line", (line) => port.postMessage({ id, type: "line", line }));
    for (const line of first.split("\n").filter(Boolean)) port.postMessage({ id, type: "line", line });
  } catch (error) {
    closeSync(fd);
    port.postMessage({ id, type: "failed", message: /** @type {Error} */ (error).message });
  }
}

/** Waits for a writer. Without one a read returns the end of the pipe; with one that has written nothing, EAGAIN. @param {number} fd */
async function firstWriter(fd) {
  const buffer = Buffer.alloc(4_096);
  for (;;) {
    try {
      const length = readSync(fd, buffer);
      if (length > 0) return buffer.toString("utf8", 0, length);
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code === "EAGAIN") return "";
      throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}
