import { afterEach, describe, expect, it } from "vitest";
import { KubeClient } from "../client.ts";
import type { ClusterConfig } from "../config.ts";
import { ApiServer, closed, type Seen, sendJson } from "../testing/api-server.ts";
import * as pem from "../testing/certificates.ts";
import { startProxy } from "../testing/connect-proxy.ts";
import { FakePlatform, fixedCredentials } from "../testing/fake-platform.ts";
import { parseProxy } from "./tunnel-agent.ts";

const tls = { cert: pem.serverCert, key: pem.serverKey };
const request = { method: "GET", path: "/version" } as const;
const ok = (seen: Seen): void => sendJson(seen, 200, {});

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function setUp(proxyOptions: { refuse?: number; silent?: boolean; tls?: object } = {}, handler = ok) {
  const server = await ApiServer.start(handler, tls);
  const proxy = await startProxy({ targetPort: server.port, ...proxyOptions });
  const platform = new FakePlatform();
  cleanups.push(
    () => server.close(),
    () => proxy.close(),
  );
  // Only the proxy can resolve this name, so a direct connection fails the test.
  const newClient = (config: Partial<ClusterConfig> = {}) => {
    const client = new KubeClient(
      {
        server: "https://api.tenure.invalid:6443",
        ca: pem.authority,
        tlsServerName: "localhost",
        proxyUrl: proxy.url,
        credentials: fixedCredentials(),
        ...config,
      },
      { platform },
    );
    cleanups.push(() => client.close());
    return client;
  };
  return { server, proxy, platform, newClient };
}

describe("a proxy", () => {
  it("carries requests on one connection, with TLS to the API server inside", async () => {
    const { server, proxy, newClient } = await setUp();
    const client = newClient();
    await client.request(request);
    await client.request(request);
    expect(proxy.requests).toEqual([{ authority: "api.tenure.invalid:6443", authorization: undefined }]);
    expect(server.connections).toBe(1);
  });
  it("receives the username and password in its URL", async () => {
    const { proxy, newClient } = await setUp();
    const proxyUrl = proxy.url.replace("//", "//us%40er:pa%20ss@");
    await newClient({ proxyUrl }).request(request);
    expect(proxy.requests[0]?.authorization).toBe(`Basic ${Buffer.from("us@er:pa ss").toString("base64")}`);
  });
  it("can itself use TLS", async () => {
    const { proxy, newClient } = await setUp({ tls });
    await newClient().request(request);
    expect(proxy.requests.length).toBe(1);
  });
  it("carries a watch", async () => {
    const { newClient } = await setUp({}, ({ response }) => response.writeHead(200).flushHeaders());
    const controller = new AbortController();
    await newClient().watch({
      path: "/api/v1/pods",
      signal: controller.signal,
      onEvent: () => {},
      onUp: () => controller.abort(),
      onDown: (error) => {
        throw error;
      },
    });
  });
  it("comes from HTTPS_PROXY, unless NO_PROXY exempts the server", async () => {
    const { proxy, platform, newClient } = await setUp();
    platform.env = { HTTPS_PROXY: proxy.url };
    await newClient({ proxyUrl: undefined }).request(request);
    expect(proxy.requests.length).toBe(1);
    platform.env = { HTTPS_PROXY: proxy.url, NO_PROXY: "tenure.invalid" };
    await expect(newClient({ proxyUrl: undefined }).request(request)).rejects.toMatchObject({
      code: "Unreachable",
    });
    expect(proxy.requests.length).toBe(1);
  });
  it("that rejects the tunnel is named without its password", async () => {
    const { proxy, newClient } = await setUp({ refuse: 407 });
    const proxyUrl = proxy.url.replace("//", "//user:secret@");
    await expect(newClient({ proxyUrl }).request(request)).rejects.toMatchObject({
      code: "Unreachable",
      message: `Cannot reach api.tenure.invalid:6443 through the proxy http://…@127.0.0.1:${proxy.port}: it responded with 407 Nope. Check proxy-url or HTTPS_PROXY.`,
    });
  });
  it("that does not exist is named", async () => {
    const { proxy, newClient } = await setUp();
    const client = newClient();
    await proxy.close();
    cleanups.splice(1, 1);
    await expect(client.request(request)).rejects.toMatchObject({
      code: "Unreachable",
      message: expect.stringContaining(`through the proxy ${proxy.url}: connect ECONNREFUSED`),
    });
  });
  it("that does not respond is disconnected 30 s after the attempt began", async () => {
    const { proxy, platform, newClient } = await setUp({ silent: true });
    const result = newClient()
      .request({ ...request, timeoutMs: 1000 })
      .catch((error) => error.code);
    const socket = await proxy.client();
    await platform.clock.pass(1000);
    expect(await result).toBe("Timeout");
    await platform.clock.pass(29_000);
    await closed(socket);
  });
  it("that does not respond is disconnected when the client is closed", async () => {
    const { proxy, newClient } = await setUp({ silent: true });
    const client = newClient();
    const result = client.request(request).catch((error) => error.code);
    const socket = await proxy.client();
    client.close();
    expect(await result).toBe("Aborted");
    await closed(socket);
  });
  it("that does not respond is disconnected when a watch ends", async () => {
    const { proxy, newClient } = await setUp({ silent: true });
    const controller = new AbortController();
    const nothing = (): void => {};
    const watching = newClient().watch({
      path: "/api/v1/pods",
      signal: controller.signal,
      onEvent: nothing,
      onUp: nothing,
      onDown: nothing,
    });
    const socket = await proxy.client();
    controller.abort();
    await watching;
    await closed(socket);
  });
  it("does not weaken the verification of the server", async () => {
    const { newClient } = await setUp();
    await expect(newClient({ tlsServerName: undefined }).request(request)).rejects.toMatchObject({
      code: "Tls",
    });
    await expect(newClient({ ca: undefined }).request(request)).rejects.toMatchObject({ code: "Tls" });
  });
});

describe("parseProxy", () => {
  it.each(["socks5://localhost:1080", "socks5h://user:secret@localhost:1080"])(
    "rejects %s as not supported",
    (value) => {
      expect(() => parseProxy(value)).toThrow(
        /^Cannot use the proxy socks5.*: socks5h? is not supported. Use an http/,
      );
      expect(() => parseProxy(value)).not.toThrow("secret");
    },
  );
  it("rejects a value that is not a URL", () => {
    expect(() => parseProxy("::")).toThrow('Cannot use the proxy "::": it is not a URL.');
  });
});
