// @ts-check
/** A proxy between a replica and a server. Cutting it drops all traffic silently, as a network partition does. */
import { once } from "node:events";
import { connect, createServer } from "node:net";

export class NetworkLink {
  #isCut = false;
  /** @type {Set<import("node:net").Socket>} */
  #sockets = new Set();
  #server;

  /** @param {number} port of the server */
  constructor(port) {
    this.#server = createServer({ noDelay: true }, (near) => {
      this.#keep(near);
      // A cut link accepts connections and never answers.
      if (this.#isCut) return;
      const far = connect({ port, host: "127.0.0.1", noDelay: true });
      this.#keep(far);
      near.pipe(far);
      far.pipe(near);
      near.on("close", () => far.destroy());
      far.on("close", () => near.destroy());
    });
  }

  /** @returns {Promise<number>} the port for the replica */
  async listen() {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return /** @type {import("node:net").AddressInfo} */ (this.#server.address()).port;
  }

  cut() {
    this.#isCut = true;
    for (const socket of this.#sockets) {
      socket.unpipe();
      // Keep reading and discard the data, so that the sender does not notice.
      socket.resume();
    }
  }

  /** Discarded data stays lost, so connections from before the cut are closed. */
  restore() {
    if (!this.#isCut) return;
    this.#isCut = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  close() {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  /** @param {import("node:net").Socket} socket */
  #keep(socket) {
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => this.#sockets.delete(socket));
  }
}
