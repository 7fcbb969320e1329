// @ts-check
/**
 * The network between one candidate and the API server. It can be slow, hold all data back, reset and half-close connections.
 * With several targets it is also a load balancer: successive connections go to different ones.
 */
import { once } from "node:events";
import { connect, createServer } from "node:net";

/** @typedef {"normal" | "slow" | "black-hole" | "refusing"} NetworkMode */

export class TcpProxy {
  #server;
  /** @type {Set<import("node:net").Socket>} */
  #sockets = new Set();
  /** @type {NetworkMode} */
  #mode = "normal";
  /** @type {(() => void)[]} what is sent when the black hole ends */
  #held = [];

  /** @param {{ host: string, port: number }[]} targets */
  constructor(...targets) {
    let connections = Math.floor(Math.random() * targets.length);
    this.#server = createServer({ allowHalfOpen: true }, (client) => {
      if (this.#mode === "refusing") {
        client.destroy();
        return;
      }
      const target = targets[connections++ % targets.length];
      const upstream = connect({ ...target, port: target?.port ?? 0, allowHalfOpen: true });
      this.#join(client, upstream);
      this.#join(upstream, client);
    });
  }

  /** @param {number} port */
  async listen(port) {
    this.#server.listen(port, "127.0.0.1");
    await once(this.#server, "listening");
  }

  /** @param {NetworkMode} mode */
  setMode(mode) {
    this.#mode = mode;
    if (mode === "refusing") this.cut();
    if (mode === "black-hole") return;
    for (const release of this.#held.splice(0)) release();
  }

  /** Resets every connection. */
  cut() {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Ends one direction of every connection and leaves the other open. */
  halfClose() {
    for (const socket of this.#sockets) socket.end();
  }

  close() {
    this.cut();
    this.#server.close();
  }

  /**
   * @param {import("node:net").Socket} from
   * @param {import("node:net").Socket} to
   */
  #join(from, to) {
    this.#sockets.add(from);
    from.on("data", (chunk) => this.#pass(() => to.writable && to.write(chunk)));
    from.on("end", () => this.#pass(() => to.end()));
    from.on("error", () => to.destroy());
    from.on("close", () => {
      this.#sockets.delete(from);
      to.destroy();
    });
  }

  /** @param {() => void} action */
  #pass(action) {
    if (this.#mode === "black-hole") this.#held.push(action);
    else if (this.#mode === "slow") setTimeout(action, 200);
    else action();
  }
}
