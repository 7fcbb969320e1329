/** Runs one probe or one hook of a container. */
import type { Socket } from "node:net";
import { after, messageOf, onAbort, sleep } from "@tenure/base";
import { type Check, runCheck } from "@tenure/supervisor/internal";
import { loopbackTwin } from "../addresses.ts";
import type { Launch } from "../isolation/isolation.ts";
import type { NodePlatform } from "../platform.ts";
import type { Handler, NodeContainer, Probe } from "../pod.ts";

export interface CheckTarget {
  readonly container: NodeContainer;
  /** Where the node reaches the ports that the pod declares. */
  readonly address: string;
  /** The port at that address that stands for a port of the pod. */
  portOnMachine(port: number): number;
  /** Connects to a port of the pod. Rejects if nothing listens there. */
  connect(port: number): Promise<Socket>;
  /** How to run a program in the container. */
  enter(argv: readonly string[]): Launch;
}

/** Resolves with the reason if it failed, with undefined if it passed. */
export async function runHandler(
  handler: Handler | Probe,
  target: CheckTarget,
  timeoutMs: number,
  platform: NodePlatform,
): Promise<string | undefined> {
  const timeout = new AbortController();
  const cancel = Number.isFinite(timeoutMs)
    ? after(platform.clock, timeoutMs, () =>
        timeout.abort(new Error(`it took longer than ${timeoutMs / 1000} s`)),
      )
    : () => {};
  try {
    if ("sleep" in handler && handler.sleep) {
      await sleep(platform.clock, handler.sleep.seconds * 1000, timeout.signal);
      return undefined;
    }
    if (handler.exec) {
      const { command, args, env, cwd } = target.enter(handler.exec.command ?? []);
      await runCheck({ kind: "exec", argv: [command, ...args] }, { env, cwd }, timeout.signal);
    } else if (handler.tcpSocket && handler.tcpSocket.host === undefined) {
      const socket = await untilAborted(
        target.connect(portNumber(handler.tcpSocket.port, target.container)),
        timeout.signal,
      );
      socket.destroy();
    } else await runCheck(checkOf(handler, target), { env: {}, cwd: undefined }, timeout.signal);
    return undefined;
  } catch (error) {
    return describe(timeout.signal.aborted ? timeout.signal.reason : ((error as Error).cause ?? error));
  } finally {
    cancel();
  }
}

function describe(error: unknown): string {
  return messageOf(error).replace(/^answered (\d+)$/, "HTTP probe failed with statuscode: $1");
}

function checkOf(handler: Handler | Probe, target: CheckTarget): Check {
  const { container, address } = target;
  const { httpGet, tcpSocket } = handler;
  if (httpGet) {
    const { path = "/", scheme = "HTTP", httpHeaders = [] } = httpGet;
    const host = httpGet.host === undefined ? address : loopbackTwin(httpGet.host);
    const headers = Object.fromEntries(httpHeaders.map(({ name, value }) => [name, value]));
    const number = portNumber(httpGet.port, container);
    const port = httpGet.host === undefined ? target.portOnMachine(number) : number;
    const url = `${scheme.toLowerCase()}://${host}:${port}${path.startsWith("/") ? "" : "/"}${path}`;
    return { kind: "http", url, headers };
  }
  if (tcpSocket) {
    return {
      kind: "tcp",
      host: loopbackTwin(tcpSocket.host ?? address),
      port: portNumber(tcpSocket.port, container),
    };
  }
  const grpc = "grpc" in handler ? handler.grpc : undefined;
  if (grpc)
    return {
      kind: "grpc",
      host: address,
      port: target.portOnMachine(grpc.port),
      service: grpc.service ?? "",
    };
  throw new Error("it has no action");
}

/** A connection that comes too late is closed. */
async function untilAborted(connecting: Promise<Socket>, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    onAbort(signal, () => reject(signal.reason));
    connecting.then((socket) => {
      if (signal.aborted) socket.destroy();
      else resolve(socket);
    }, reject);
  });
}

/** A port can be named after a port of the container. */
export function portNumber(port: number | string, { ports = [] }: NodeContainer): number {
  const number = Number(port);
  if (Number.isInteger(number)) return number;
  const found = ports.find(({ name }) => name === port);
  if (found) return found.containerPort;
  throw new Error(`the container has no port with the name ${JSON.stringify(port)}`);
}
