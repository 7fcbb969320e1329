/** Runs one probe or one hook of a container. */
import { after, messageOf, sleep } from "@tenure/base";
import { type Check, runCheck } from "@tenure/supervisor/internal";
import type { Launch } from "../isolation/isolation.ts";
import type { NodePlatform } from "../platform.ts";
import type { Handler, NodeContainer, Probe } from "../pod.ts";

export interface CheckTarget {
  readonly container: NodeContainer;
  /** Where the node reaches the pod. */
  readonly address: string;
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

function checkOf(handler: Handler | Probe, { container, address }: CheckTarget): Check {
  const { httpGet, tcpSocket } = handler;
  if (httpGet) {
    const { path = "/", scheme = "HTTP", httpHeaders = [] } = httpGet;
    const host = httpGet.host ?? address;
    const headers = Object.fromEntries(httpHeaders.map(({ name, value }) => [name, value]));
    const port = portNumber(httpGet.port, container);
    const url = `${scheme.toLowerCase()}://${host}:${port}${path.startsWith("/") ? "" : "/"}${path}`;
    return { kind: "http", url, headers };
  }
  if (tcpSocket) {
    return { kind: "tcp", host: tcpSocket.host ?? address, port: portNumber(tcpSocket.port, container) };
  }
  const grpc = "grpc" in handler ? handler.grpc : undefined;
  if (grpc) return { kind: "grpc", host: address, port: grpc.port, service: grpc.service ?? "" };
  throw new Error("it has no action");
}

/** A port can be named after a port of the container. */
function portNumber(port: number | string, { ports = [] }: NodeContainer): number {
  const number = Number(port);
  if (Number.isInteger(number)) return number;
  const found = ports.find(({ name }) => name === port);
  if (found) return found.containerPort;
  throw new Error(`the container has no port with the name ${JSON.stringify(port)}`);
}
