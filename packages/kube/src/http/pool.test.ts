import { createServer } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { KubeClient } from "../client.ts";
import type { Seen } from "../testing/api-server.ts";
import { fixedCredentials } from "../testing/fake-platform.ts";
import { cleanups, endRequests, failure, get, ok, put, startClient } from "../testing/start-client.ts";

afterEach(endRequests);

const numbered = (index: number) => ({ ...get, query: { index: String(index) } });
const indexOf = ({ url }: Seen): number => Number(url.searchParams.get("index"));

/** A client with at most two connections, and a server that holds every request until the test responds. */
async function startSmall(maxConnections = 2) {
  const held: Seen[] = [];
  const stage = await startClient((seen) => void held.push(seen), {}, { maxConnections });
  return { ...stage, held };
}

describe("concurrent requests", () => {
  it("use at most maxConnections connections", async () => {
    const { server, client, held } = await startSmall();
    server.handler = (seen) => {
      if (held.push(seen) === 2) for (const each of held.splice(0)) ok(each);
    };
    await Promise.all(Array.from({ length: 50 }, (_, index) => client.request(numbered(index))));
    expect([server.connections, server.seen.length]).toEqual([2, 50]);
  });

  it("are sent newest first, because the newest has the most time left", async () => {
    const { server, client, held } = await startSmall(1);
    const requests = [client.request(numbered(0))];
    await server.requests(1);
    for (let index = 1; index <= 5; index++) requests.push(client.request(numbered(index)));
    await new Promise(setImmediate);
    server.handler = ok;
    ok(held[0] as Seen);
    await Promise.all(requests);
    expect(server.seen.map(indexOf)).toEqual([0, 5, 4, 3, 2, 1]);
  });

  it("use at most maxConnections connections when the response arrives before the request is sent completely", async () => {
    let connections = 0;
    const server = createServer((_request, response) => response.end('{"kind":"Lease"}'));
    server.on("connection", () => connections++);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const client = new KubeClient(
      { server: `http://127.0.0.1:${port}`, credentials: fixedCredentials() },
      { maxConnections: 1 },
    );
    cleanups.push(
      () => server.close(),
      () => client.close(),
    );
    const body = { kind: "Lease", filler: "x".repeat(8 << 20) };
    await Promise.all(Array.from({ length: 10 }, () => client.request({ ...put, body })));
    expect(connections).toBe(1);
  });

  it("use 16 connections by default", async () => {
    const { server, client } = await startClient(() => {});
    const results = Promise.all(Array.from({ length: 40 }, () => client.request(get)));
    await server.requests(16);
    await new Promise(setImmediate);
    expect(server.seen.length).toBe(16);
    server.handler = ok;
    for (const seen of [...server.seen]) ok(seen);
    await results;
    expect(server.connections).toBe(16);
  });

  it("do not wait for one that hangs", async () => {
    const { server, client, held } = await startSmall();
    const hanging = failure(client.request(put));
    await server.requests(1);
    server.handler = ok;
    for (let index = 0; index < 10; index++) await client.request(get);
    expect(held.map(({ method }) => method)).toEqual(["PUT"]);
    client.close();
    await hanging;
  });

  it("do not wait for a watch, which has its own connection", async () => {
    const { server, client } = await startSmall(1);
    const controller = new AbortController();
    const watching = client.watch({
      path: "/apis/coordination.k8s.io/v1/namespaces/prod/leases",
      signal: controller.signal,
      onUp: () => {},
      onDown: () => {},
      onEvent: () => {},
    });
    await server.requests(1);
    server.handler = ok;
    await client.request(get);
    controller.abort();
    await watching;
  });
});

describe("when all connections hang", () => {
  it("waiting requests use new connections as soon as the first request times out", async () => {
    const { server, platform, client, held } = await startSmall();
    const first = failure(client.request({ ...numbered(0), timeoutMs: 2_500 }));
    const second = failure(client.request({ ...numbered(1), timeoutMs: 2_600 }));
    await server.requests(2);
    const dead = new Set(held.map(({ socket }) => socket));
    const renewal = client.request({ ...put, timeoutMs: 2_700 });
    await new Promise(setImmediate);
    server.handler = ok;
    await platform.clock.pass(2_500);
    expect((await first).code).toBe("Timeout");
    expect(await renewal).toEqual({ kind: "Lease" });
    expect(dead).not.toContain(server.seen.at(-1)?.socket);
    await platform.clock.pass(100);
    expect((await second).code).toBe("Timeout");
  });

  it("a request that times out while it waits sends nothing and says what it waited for, and the next uses new connections", async () => {
    const { server, platform, client } = await startSmall(1);
    const hanging = failure(client.request({ ...get, timeoutMs: 60_000 }));
    await server.requests(1);
    const renewal = failure(client.request({ ...put, timeoutMs: 2_500 }));
    await new Promise(setImmediate);
    await platform.clock.pass(2_500);
    expect((await renewal).message).toMatch(
      /timed out after 2500 ms waiting for a free connection: other requests of this client wait for http:.*\.$/,
    );
    server.handler = ok;
    await client.request(put);
    expect(server.seen.map(({ method }) => method)).toEqual(["GET", "PUT"]);
    client.close();
    await hanging;
  });

  it("the connections of a slow server that still responds are kept when a request times out", async () => {
    const { server, platform, client, held } = await startSmall(2);
    const slow = client.request({ ...numbered(0), timeoutMs: 60_000 });
    await server.requests(1);
    await platform.clock.pass(5_000);
    const impatient = failure(client.request({ ...numbered(1), timeoutMs: 500 }));
    await server.requests(2);
    ok(held[0] as Seen);
    await slow;
    const { socket } = held[0] as Seen;
    await platform.clock.pass(500);
    await impatient;
    server.handler = ok;
    await client.request(numbered(2));
    expect(server.seen.at(-1)?.socket).toBe(socket);
  });

  it("a request that is aborted while it waits does not block the next", async () => {
    const { server, client, held } = await startSmall(1);
    const hanging = client.request(numbered(0));
    await server.requests(1);
    const last = client.request(numbered(1));
    const controllers = Array.from({ length: 20 }, () => new AbortController());
    const waiting = controllers.map(({ signal }) => failure(client.request({ ...put, signal })));
    await new Promise(setImmediate);
    for (const controller of controllers) controller.abort();
    for (const error of await Promise.all(waiting)) expect(error.code).toBe("Aborted");
    server.handler = ok;
    ok(held[0] as Seen);
    await Promise.all([hanging, last]);
    expect(server.seen.map(({ method }) => method)).toEqual(["GET", "GET"]);
    expect(server.connections).toBe(1);
  });

  it("a thousand requests that time out one after the other do not each replace the connections", async () => {
    const { server, platform, client } = await startClient(() => {});
    const results = Array.from({ length: 1_000 }, (_, index) =>
      failure(client.request({ ...put, timeoutMs: 2_500 + index })),
    );
    await server.requests(16);
    let most = 0;
    await platform.clock.pass(2_500);
    for (let passedMs = 0; passedMs < 1_000; passedMs++) {
      // The server accepts one connection per turn of the event loop. Give it enough turns per millisecond.
      for (let turn = 0; turn < 40; turn++) await new Promise(setImmediate);
      most = Math.max(most, server.sockets.size);
      await platform.clock.pass(1);
    }
    for (const { code } of await Promise.all(results)) expect(code).toBe("Timeout");
    // The hanging connections, the new ones, and a few whose end the server has not noticed yet.
    expect(most).toBeLessThan(3 * 16);
  });
});

it.each([0, -1, 1.5, Number.NaN])("a client with %s connections is rejected", (maxConnections) => {
  const make = () =>
    new KubeClient({ server: "http://127.0.0.1:1", credentials: fixedCredentials() }, { maxConnections });
  expect(make).toThrow(
    `Cannot create a client: maxConnections must be a whole number of at least 1: ${maxConnections}`,
  );
});
