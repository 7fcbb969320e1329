/** For tests: valid and invalid requests to a status server. */
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export async function sendRequest(
  address: string,
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    startRequest(address, path, options, resolve).on("error", reject);
  });
  let body = "";
  for await (const chunk of response) body += chunk;
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

function startRequest(
  address: string,
  path: string,
  {
    method = "GET",
    headers = {},
    body,
  }: { method?: string; headers?: Record<string, string>; body?: string },
  onResponse: (response: IncomingMessage) => void,
): ClientRequest {
  const where = address.startsWith("unix:")
    ? { socketPath: address.slice("unix:".length) }
    : { host: new URL(address).hostname, port: new URL(address).port };
  const sent = request({ ...where, path, method, headers, agent: false }, onResponse);
  sent.end(body);
  return sent;
}

export interface Events {
  readonly status: number;
  /** The names of the events received so far. */
  readonly names: string[];
  readonly data: { readonly [field: string]: unknown }[];
  readonly comments: string[];
  /** Waits until this many events have been received. */
  until(count: number): Promise<void>;
  readonly ended: Promise<void>;
  close(): void;
}

export async function openEventStream(address: string, path = "/events"): Promise<Events> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    startRequest(address, path, {}, resolve).on("error", reject);
  });
  const names: string[] = [];
  const data: { [field: string]: unknown }[] = [];
  const comments: string[] = [];
  let rest = "";
  let wake = () => {};
  response.setEncoding("utf8");
  response.on("error", () => {});
  response.on("data", (chunk: string) => {
    const blocks = (rest + chunk).split("\n\n");
    rest = blocks.pop() as string;
    for (const block of blocks) {
      if (block.startsWith(":")) comments.push(block);
      const name = /^event: (.*)$/m.exec(block)?.[1];
      if (name) {
        names.push(name);
        data.push(JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? "null"));
      }
    }
    wake();
  });
  return {
    status: response.statusCode ?? 0,
    names,
    data,
    comments,
    async until(count) {
      while (names.length < count) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    ended: new Promise((resolve) => response.on("close", resolve)),
    close: () => response.destroy(),
  };
}

export interface RawSocket extends Socket {
  received: string;
  readonly ended: Promise<void>;
  /** Resolves when the text has been received, rejects if the connection ends first. */
  untilReceived(text: string): Promise<void>;
}

/** A TCP connection that sends only what the test writes. @param from the local address */
export function rawSocket(address: string, from?: string): Promise<RawSocket> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve, reject) => {
    const where = { host: hostname, port: Number(port), ...(from !== undefined && { localAddress: from }) };
    const socket = connect(where, () => resolve(extended));
    const extended: RawSocket = Object.assign(socket, {
      received: "",
      ended: new Promise<void>((done) => socket.on("close", () => done())),
      untilReceived: (text: string) =>
        new Promise<void>((found, missing) => {
          const check = () => {
            if (extended.received.includes(text)) found();
          };
          socket.on("data", check);
          socket.on("close", () => missing(new Error(`the connection ended after ${extended.received}`)));
          check();
        }),
    });
    socket.on("data", (chunk) => {
      extended.received += chunk;
    });
    // After the connection is established, the server may reset it at any time.
    socket.on("error", reject);
  });
}
