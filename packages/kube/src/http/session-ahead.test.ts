/** The connection that is opened before there is a request. */
import { once } from "node:events";
import { createServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { KubeClient } from "../client.ts";
import { ApiServer } from "../testing/api-server.ts";
import * as pem from "../testing/certificates.ts";
import { fixedCredentials } from "../testing/fake-platform.ts";
import { cleanups, endRequests, failure, get, ok, put } from "../testing/start-client.ts";

afterEach(endRequests);

async function start(tls = true) {
  const server = await ApiServer.start(ok, tls ? { cert: pem.serverCert, key: pem.serverKey } : undefined);
  const client = new KubeClient({ server: server.url, ca: pem.authority, credentials: fixedCredentials() });
  cleanups.push(
    () => server.close(),
    () => client.close(),
  );
  return { server, client };
}

const connected = (server: ApiServer, count = 1) => expect.poll(() => server.connections).toBe(count);

describe.each([
  ["with TLS", true],
  ["without TLS", false],
])("connectAhead %s", (_name, tls) => {
  it("opens one connection, sends nothing, and the first request uses it", async () => {
    const { server, client } = await start(tls);
    client.connectAhead();
    await connected(server);
    expect(server.seen).toEqual([]);
    await client.request(get);
    await client.request(put);
    expect(server.connections).toBe(1);
  });

  it("serves only one of two requests at a time", async () => {
    const { server, client } = await start(tls);
    client.connectAhead();
    await connected(server);
    await Promise.all([client.request(get), client.request(put)]);
    expect(server.connections).toBe(2);
  });

  it("is in no request's way if the server closed it meanwhile", async () => {
    const { server, client } = await start(tls);
    client.connectAhead();
    await connected(server);
    server.dropConnections();
    // The client may not have noticed yet.
    expect(await client.request(get)).toEqual({ kind: "Lease" });
  });

  it("ends with the client", async () => {
    const { server, client } = await start(tls);
    client.connectAhead();
    await connected(server);
    client.close();
    await expect.poll(() => server.sockets.size).toBe(0);
    client.connectAhead();
    expect(server.connections).toBe(1);
  });
});

it("a client that is closed while it connects ahead opens nothing", async () => {
  const { server } = await start();
  let answer = (_material: object): void => {};
  const tls = () => new Promise<object>((resolve) => (answer = resolve));
  const credentials = { ...fixedCredentials(), tls };
  const client = new KubeClient({ server: server.url, ca: pem.authority, credentials });
  client.connectAhead();
  await new Promise(setImmediate);
  client.close();
  await new Promise(setImmediate);
  answer({});
  await new Promise(setImmediate);
  expect(server.connections).toBe(0);
});

it("a connection ahead that fails is reported by the first request", async () => {
  const nobody = createServer().listen(0, "127.0.0.1");
  await once(nobody, "listening");
  const { port } = nobody.address() as { port: number };
  nobody.close();
  const client = new KubeClient({ server: `https://127.0.0.1:${port}`, credentials: fixedCredentials() });
  cleanups.push(() => client.close());
  client.connectAhead();
  expect(await failure(client.request(get))).toMatchObject({ code: "Unreachable" });
});

it("a configuration that cannot be used is reported by the first request", async () => {
  const client = new KubeClient(() => Promise.reject(new Error("no such file")));
  client.connectAhead();
  expect(await failure(client.request(get))).toMatchObject({ code: "BadConfig" });
});
