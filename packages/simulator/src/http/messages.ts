/** The agent, the request and the response of node:http, as far as the client uses them. */
import { EventEmitter } from "node:events";
import type { Connection } from "../connection.ts";
import type { Random } from "../random.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Proof } from "./accounts.ts";
import type { HttpApi } from "./api.ts";
import type { HttpAnswer } from "./endpoint.ts";

export interface NetworkParts {
  readonly api: HttpApi;
  readonly link: Connection;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly defer: (callback: () => void) => void;
  /** The id of the process. */
  readonly writer: string;
}

export interface Outgoing {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly agent: SimulatedAgent;
  readonly connection: { readonly cert?: string | undefined };
}

export function proofOf({ headers, connection: { cert } }: Outgoing): Proof {
  const names = Object.keys(headers);
  const name = names.find((other) => other.toLowerCase() === "authorization");
  return { authorization: name === undefined ? undefined : headers[name], cert };
}

export class SimulatedAgent {
  readonly freeSockets = {};
  maxFreeSockets = 256;
  readonly keepAlive: boolean;
  hasSocket = false;
  readonly requests = new Set<SimulatedRequest>();

  constructor({ keepAlive = false }: { readonly keepAlive?: boolean }) {
    this.keepAlive = keepAlive;
  }

  destroy(): void {
    for (const request of this.requests) request.destroy();
  }
}

export class SimulatedRequest extends EventEmitter {
  readonly outgoing: Outgoing;
  readonly reusedSocket: boolean;
  isDestroyed = false;
  onDestroy = (): void => {};
  readonly #send: (request: SimulatedRequest, body: string) => void;

  constructor(outgoing: Outgoing, send: (request: SimulatedRequest, body: string) => void) {
    super();
    this.outgoing = outgoing;
    this.#send = send;
    this.reusedSocket = outgoing.agent.keepAlive && outgoing.agent.hasSocket;
    outgoing.agent.requests.add(this);
  }

  end(body = ""): void {
    this.emit("socket", { setKeepAlive() {} });
    this.#send(this, body);
  }

  destroy(): void {
    this.isDestroyed = true;
    this.outgoing.agent.requests.delete(this);
    this.onDestroy();
  }
}

/** A response whose parts the caller emits. */
export class SimulatedResponse extends EventEmitter {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor({ status, headers }: Pick<HttpAnswer, "status" | "headers">) {
    super();
    this.statusCode = status;
    this.headers = headers;
  }
}

export function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
