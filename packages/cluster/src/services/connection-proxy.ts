/**
 * Accepts connections for one port of a service, and connects each with one of its targets. A connection stays with its target
 * until one side closes it, also when the target is not ready any more.
 */
import { connect, createServer, type Server, type Socket } from "node:net";
import type { Clock } from "@tenure/base";
import type { Target } from "./plan.ts";

/** A target that does not answer within this time is skipped. */
const connectMs = 3_000;

/** A connection that is being made, or one that exists. */
export type Dial = (target: Target) => Socket | Promise<Socket>;

interface Sticky {
  readonly key: string;
  readonly untilMs: number;
}

export class ConnectionProxy {
  readonly #clock: Clock;
  readonly #sockets = new Set<Socket>();
  readonly #sticky = new Map<string, Sticky>();
  readonly #server: Server;
  #targets: readonly Target[] = [];
  #affinityMs: number | undefined;
  #next = 0;

  readonly #dial: Dial;

  /** @param dial how to reach a target. @default by the network of the machine */
  constructor(clock: Clock, dial: Dial = (target) => connect({ ...target, allowHalfOpen: true })) {
    this.#clock = clock;
    this.#dial = dial;
    this.#server = createServer(
      { allowHalfOpen: true, pauseOnConnect: true },
      (socket) => void this.accept(socket, socket.remoteAddress ?? ""),
    );
  }

  listen(host: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const onListening = () => {
        this.#server.off("error", onError).on("error", () => {});
        this.#server.unref();
        resolve();
      };
      const onError = (error: Error) => {
        this.#server.off("listening", onListening);
        reject(error);
      };
      this.#server.once("error", onError).once("listening", onListening).listen(port, host);
    });
  }

  /** From now on new connections go to these targets. */
  setTargets(targets: readonly Target[], affinityMs: number | undefined): void {
    this.#targets = targets;
    this.#affinityMs = affinityMs;
  }

  async close(): Promise<void> {
    const closed = this.#server.listening
      ? new Promise<void>((resolve) => this.#server.close(() => resolve()))
      : undefined;
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Connects a client with a target. @param from the address of the client */
  async accept(client: Socket, from: string): Promise<void> {
    this.#track(client);
    for (const target of this.#order(from)) {
      const backend = await this.#connect(target);
      if (client.destroyed) {
        backend?.destroy();
        return;
      }
      if (!backend) continue;
      this.#remember(from, target);
      this.#track(backend);
      client.pipe(backend);
      backend.pipe(client);
      client.once("close", () => backend.destroy());
      backend.once("close", () => client.destroy());
      return;
    }
    // As with kube-proxy, a service without ready endpoints refuses connections.
    if (client.remoteAddress === undefined) client.destroy();
    else client.resetAndDestroy();
  }

  /** All targets, with the one that is next first. */
  #order(from: string): Target[] {
    const targets = [...this.#targets];
    if (targets.length === 0) return [];
    this.#next = (this.#next + 1) % targets.length;
    const rotated = [...targets.slice(this.#next), ...targets.slice(0, this.#next)];
    const sticky = this.#affinityMs === undefined ? undefined : this.#sticky.get(from);
    if (!sticky || sticky.untilMs < this.#clock.now().monoMs) return rotated;
    return rotated.sort((a, b) => Number(keyOf(b) === sticky.key) - Number(keyOf(a) === sticky.key));
  }

  #remember(from: string, target: Target): void {
    if (this.#affinityMs === undefined) return;
    const untilMs = this.#clock.now().monoMs + this.#affinityMs;
    this.#sticky.set(from, { key: keyOf(target), untilMs });
  }

  #connect(target: Target): Promise<Socket | undefined> {
    return new Promise((resolve) => {
      let isOver = false;
      const end = (result: Socket | undefined) => {
        if (isOver) result?.destroy();
        isOver = true;
        cancel();
        resolve(result);
      };
      const cancel = this.#clock.at(this.#clock.now().monoMs + connectMs, () => end(undefined));
      const dialed = this.#dial(target);
      if (dialed instanceof Promise) {
        dialed.then(end, () => end(undefined));
        return;
      }
      dialed.once("connect", () => end(dialed));
      dialed.on("error", () => {}).once("close", () => end(undefined));
    });
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => {}).once("close", () => this.#sockets.delete(socket));
  }
}

const keyOf = ({ host, port }: Target) => `${host}:${port}`;
