/** Passes an HTTP request on to a port of a pod: /proxy/NAMESPACE/POD/SCHEME/PORT/PATH. */
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { messageOf } from "@tenure/base";
import type { PodManager } from "../pod/pod-manager.ts";

export async function serveProxy(
  manager: PodManager,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { namespace, pod, scheme, port, path } = parse(incoming.url ?? "");
  const fail = (error: unknown) => sendUnavailable(response, messageOf(error));
  let socket: Socket;
  try {
    const worker = manager.find(namespace, pod);
    if (!worker) throw new Error(`pod ${JSON.stringify(pod)} does not run on this node`);
    const plain = await worker.runtime.connect(port);
    // As in Kubernetes, nobody knows the certificate of a pod.
    socket = scheme === "https" ? connectTls({ socket: plain, rejectUnauthorized: false }) : plain;
  } catch (error) {
    fail(error);
    return;
  }
  const { authorization: _secret, ...headers } = incoming.headers;
  const { method } = incoming;
  const request = httpRequest({ method, path, headers, createConnection: () => socket });
  request.on("error", fail);
  // The socket may have been paused while the way to the pod was made.
  request.once("socket", () => socket.resume());
  request.once("response", (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
    answer.once("error", () => response.destroy());
  });
  response.once("close", () => request.destroy());
  incoming.pipe(request);
}

function parse(url: string) {
  const [, namespace = "", pod = "", scheme = "", port = "", path = "/"] =
    /^\/proxy\/([^/]+)\/([^/]+)\/([^/]+)\/([^/]+)(.*)$/.exec(url) ?? [];
  return {
    namespace: decodeURIComponent(namespace),
    pod: decodeURIComponent(pod),
    scheme,
    port: Number(port),
    path,
  };
}

/** As the API server answers, which passes it on. */
function sendUnavailable(response: ServerResponse, why: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `error trying to reach service: ${why}`,
    reason: "ServiceUnavailable",
    code: 503,
  };
  response.writeHead(503, { "Content-Type": "application/json" });
  response.end(`${JSON.stringify(status)}\n`);
}
