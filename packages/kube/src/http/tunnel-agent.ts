/**
 * Connections through an HTTP(S) proxy: CONNECT, then TLS to the API server inside the tunnel, so that the proxy sees neither
 * tokens nor responses. Loaded only if there is a proxy.
 */
import * as http from "node:http";
import * as https from "node:https";
import { isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import * as tls from "node:tls";
import { after } from "@tenure/base";
import { KubeError } from "../errors.ts";
import type { Platform } from "../platform.ts";
import { bareHost } from "./server-address.ts";

type TunnelOptions = {
  readonly proxy: URL;
  readonly isTls: boolean;
  readonly platform: Platform;
  readonly agent: https.AgentOptions;
  /** Tunnels that are being opened, so that the session can end them. */
  readonly pending: Set<http.ClientRequest>;
};

/** Ends an attempt when the proxy does not respond, even though the request has already timed out. */
const connectLimitMs = 30_000;

type Callback = (error: Error | null, socket?: Duplex) => void;

/** Throws if the proxy cannot be used. */
export function parseProxy(value: string): URL {
  const usable = "Use an http:// or https:// proxy.";
  let proxy: URL;
  try {
    proxy = new URL(value);
  } catch (error) {
    throw new KubeError("BadConfig", `Cannot use the proxy "${value}": it is not a URL. ${usable}`, {
      cause: error,
    });
  }
  if (proxy.protocol !== "http:" && proxy.protocol !== "https:") {
    const scheme = proxy.protocol.slice(0, -1);
    throw new KubeError(
      "Unsupported",
      `Cannot use the proxy ${redact(proxy)}: ${scheme} is not supported. ${usable}`,
    );
  }
  return proxy;
}

export class TunnelAgent extends https.Agent {
  readonly #options: TunnelOptions;
  readonly #pending = new Set<http.ClientRequest>();

  constructor(options: TunnelOptions) {
    super(options.agent);
    this.#options = options;
    // https.Agent accepts only https, but the tunnel carries both schemes.
    (this as unknown as { protocol: string }).protocol = options.isTls ? "https:" : "http:";
  }

  // The typings know only the variant that returns a socket. Node also supports a callback.
  override createConnection(target: tls.ConnectionOptions, callback?: unknown): Duplex {
    this.#connect(target, callback as Callback);
    return undefined as unknown as Duplex;
  }

  override destroy(): void {
    for (const request of this.#pending) request.destroy();
    super.destroy();
  }

  #connect(target: tls.ConnectionOptions, callback: Callback): void {
    const { proxy, isTls, platform } = this.#options;
    const host = String(target.host).includes(":") ? `[${target.host}]` : String(target.host);
    const authority = `${host}:${target.port}`;
    const headers: http.OutgoingHttpHeaders = { host: authority };
    if (proxy.username !== "") {
      const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
      headers["proxy-authorization"] = `Basic ${Buffer.from(login).toString("base64")}`;
    }
    const secure = proxy.protocol === "https:";
    const proxyHost = bareHost(proxy.hostname);
    const request = (secure ? https : http).request({
      host: proxyHost,
      // By default Node verifies the name in the Host header, which is the name of the API server.
      servername: isIP(proxyHost) ? "" : proxyHost,
      port: proxy.port || (secure ? 443 : 80),
      method: "CONNECT",
      path: authority,
      headers,
      agent: false,
      // The certificate of an https proxy may be signed by the cluster's private authority or by a public one.
      ...(secure && target.ca ? { ca: [...tls.rootCertificates, ...[target.ca].flat()] } : {}),
    });
    this.#pending.add(request);
    this.#options.pending.add(request);
    let settled = false;
    const cancelTimer = after(platform.clock, connectLimitMs, () =>
      request.destroy(Object.assign(new Error("the proxy does not respond"), { code: "ETIMEDOUT" })),
    );
    const settle: Callback = (error, socket) => {
      if (settled) return;
      settled = true;
      cancelTimer();
      this.#pending.delete(request);
      this.#options.pending.delete(request);
      callback(error, socket);
    };
    const fail = (why: string, cause?: unknown): void => {
      const message = `Cannot reach ${authority} through the proxy ${redact(proxy)}: ${why}. Check proxy-url or HTTPS_PROXY.`;
      settle(new KubeError("Unreachable", message, { cause }));
    };
    request.once("connect", (response, socket: Socket) => {
      if (response.statusCode !== 200) {
        socket.destroy();
        fail(`it responded with ${response.statusCode} ${response.statusMessage ?? ""}`.trimEnd());
        return;
      }
      if (!isTls) return settle(null, socket);
      const inner = tls.connect({
        ...target,
        host: undefined,
        path: undefined,
        socket,
      } as tls.ConnectionOptions);
      settle(null, inner);
    });
    request.once("response", (response) => {
      request.destroy();
      fail(`it responded to CONNECT with ${response.statusCode}`);
    });
    request.once("error", (error) => fail(error.message || String((error as { code?: string }).code), error));
    request.end();
  }
}

function redact(proxy: URL): string {
  return proxy.username === ""
    ? proxy.origin === "null"
      ? proxy.href
      : proxy.origin
    : `${proxy.protocol}//…@${proxy.host}`;
}
