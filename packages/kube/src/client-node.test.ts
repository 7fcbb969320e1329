import { KubeConfig } from "@kubernetes/client-node";
import { afterEach, describe, expect, it } from "vitest";
import { KubeClient } from "./client.ts";
import { type ClientNodeKubeConfig, fromClientNode } from "./client-node.ts";
import { ApiServer, sendJson } from "./testing/api-server.ts";
import * as pem from "./testing/certificates.ts";
import { FakePlatform } from "./testing/fake-platform.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const request = { method: "GET", path: "/version" } as const;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function kubeConfig(server: string, user: object, cluster: object = {}): KubeConfig {
  const config = new KubeConfig();
  config.loadFromString(
    JSON.stringify({
      clusters: [
        { name: "c", cluster: { server, "certificate-authority-data": base64(pem.authority), ...cluster } },
      ],
      users: [{ name: "u", user }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u", namespace: "prod" } }],
      "current-context": "x",
    }),
  );
  return config;
}

async function startServer(tls: object = {}) {
  const server = await ApiServer.start(
    (seen) =>
      sendJson(seen, 200, {
        authorization: seen.headers.authorization ?? null,
        as: seen.headers["impersonate-user"],
      }),
    { cert: pem.serverCert, key: pem.serverKey, ...tls },
  );
  cleanups.push(() => server.close());
  return server;
}

function connect(config: ClientNodeKubeConfig): KubeClient {
  const client = new KubeClient(fromClientNode(config));
  cleanups.push(() => client.close());
  return client;
}

describe("a KubeConfig of @kubernetes/client-node", () => {
  it("provides its token, authority and namespace", async () => {
    const server = await startServer();
    const client = connect(kubeConfig(server.url, { token: "t" }));
    expect(await client.request(request)).toEqual({ authorization: "Bearer t" });
    expect(await client.namespace()).toBe("prod");
  });
  it("provides its client certificate", async () => {
    const server = await startServer({ ca: pem.authority, requestCert: true, rejectUnauthorized: true });
    const user = {
      "client-certificate-data": base64(pem.clientCert),
      "client-key-data": base64(pem.clientKey),
    };
    expect(await connect(kubeConfig(server.url, user)).request(request)).toEqual({ authorization: null });
  });
  it("provides its username and password, impersonation and TLS server name", async () => {
    const server = await startServer({ cert: pem.namedCert, key: pem.namedKey });
    const config = kubeConfig(
      server.url,
      { username: "me", password: "pw", as: "bob" },
      { "tls-server-name": "api.tenure.test" },
    );
    expect(await connect(config).request(request)).toMatchObject({
      authorization: `Basic ${base64("me:pw")}`,
    });
  });
  it("provides insecure-skip-tls-verify", async () => {
    const server = await startServer({ cert: pem.namedCert, key: pem.namedKey });
    const config = kubeConfig(
      server.url,
      { token: "t" },
      { "certificate-authority-data": undefined, "insecure-skip-tls-verify": true },
    );
    expect(await connect(config).request(request)).toEqual({ authorization: "Bearer t" });
  });
  it("is rejected without a cluster", () => {
    expect(() => fromClientNode(new KubeConfig())).toThrow(
      expect.objectContaining({
        code: "BadConfig",
        message: expect.stringContaining("Cannot use this KubeConfig: its current context"),
      }),
    );
  });
  it("is named, with its error, when it cannot provide credentials", async () => {
    const config = kubeConfig("http://127.0.0.1:1", { token: "t" });
    await expect(connect(config).request(request)).rejects.toMatchObject({
      code: "BadConfig",
      message: expect.stringContaining('@kubernetes/client-node (context "x"): HTTP protocol is not allowed'),
    });
  });
});

it("calls client-node again after ten seconds, and at once after a 401", async () => {
  const platform = new FakePlatform();
  let calls = 0;
  const { credentials } = fromClientNode(
    {
      getCurrentContext: () => "x",
      getContextObject: () => null,
      getCurrentCluster: () => ({ server: "https://api" }),
      applyToHTTPSOptions: async (options: { headers?: Record<string, string> }) => {
        calls += 1;
        options.headers = { Authorization: `Bearer ${calls}` };
      },
    },
    { platform },
  );
  await Promise.all([credentials.headers(), credentials.tls()]);
  expect(await credentials.headers()).toEqual({ Authorization: "Bearer 1" });
  await platform.clock.pass(10_000);
  expect(await credentials.headers()).toEqual({ Authorization: "Bearer 2" });
  await credentials.refresh();
  expect(await credentials.headers()).toEqual({ Authorization: "Bearer 3" });
});

describe("what client-node provides", () => {
  const provided = (options: object) =>
    fromClientNode({
      getCurrentContext: () => "x",
      getContextObject: () => ({ namespace: "prod" }),
      getCurrentCluster: () => ({ server: "https://api", proxyUrl: "http://proxy", tlsServerName: "inner" }),
      applyToHTTPSOptions: async (applied: object) => void Object.assign(applied, options),
    });

  it("may have no headers and no certificates", async () => {
    const { credentials } = provided({ headers: undefined, ca: null });
    expect(await credentials.headers()).toEqual({});
    expect(await credentials.tls()).toEqual({ ca: undefined, cert: undefined, key: undefined });
  });

  it("may be binary", async () => {
    const { credentials } = provided({ ca: Buffer.from("CA"), cert: "CERT", key: Buffer.from("KEY") });
    expect(await credentials.tls()).toEqual({ ca: "CA", cert: "CERT", key: "KEY" });
  });

  it("may be a password, which does not replace a header", async () => {
    const auth = "me:secret";
    expect(await provided({ auth }).credentials.headers()).toEqual({
      Authorization: `Basic ${base64(auth)}`,
    });
    const headers = { Authorization: "Bearer t", Retries: 3 };
    expect(await provided({ auth, headers }).credentials.headers()).toEqual({
      Authorization: "Bearer t",
      Retries: "3",
    });
  });

  it("includes the namespace, the proxy and the server name", () => {
    expect(provided({})).toMatchObject({
      server: "https://api",
      namespace: "prod",
      skipTlsVerify: false,
      proxyUrl: "http://proxy",
      tlsServerName: "inner",
    });
  });
});
