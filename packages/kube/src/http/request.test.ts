import { getEventListeners } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { KubeClient } from "../client.ts";
import { closed, type Seen } from "../testing/api-server.ts";
import { deferred } from "../testing/deferred.ts";
import { fixedCredentials } from "../testing/fake-platform.ts";
import { cleanups, endRequests, failure, get, ok, path, put, startClient } from "../testing/start-client.ts";

afterEach(endRequests);

describe("a request", () => {
  it("sends method, path, query, headers and body, and resolves with the object", async () => {
    const { server, client } = await startClient(ok, {
      credentials: fixedCredentials({ authorization: "Bearer t" }),
    });
    const answer = await client.request({
      ...put,
      method: "PATCH",
      query: { fieldManager: "tenure", dryRun: undefined },
      contentType: "application/merge-patch+json",
    });
    expect(answer).toEqual({ kind: "Lease" });
    const [seen] = server.seen;
    expect(seen).toMatchObject({ method: "PATCH", body: '{"kind":"Lease"}' });
    expect(`${seen?.url.pathname}${seen?.url.search}`).toBe(`${path}?fieldManager=tenure`);
    expect(seen?.headers).toMatchObject({
      accept: "application/json",
      authorization: "Bearer t",
      "content-type": "application/merge-patch+json",
      "user-agent": "test/1",
    });
  });

  it("keeps the path prefix of the server", async () => {
    const { server } = await startClient(ok);
    const client = new KubeClient({ server: `${server.url}/k8s/c-1/`, credentials: fixedCredentials() });
    await client.request(get);
    client.close();
    expect(server.seen[0]?.url.pathname).toBe(`/k8s/c-1${path}`);
  });

  it("reuses one connection for sequential requests", async () => {
    const { server, client } = await startClient(ok);
    for (let i = 0; i < 5; i++) await client.request(i % 2 ? put : get);
    expect(server.connections).toBe(1);
  });

  it("leaves no listeners on a signal that many requests share", async () => {
    const { client } = await startClient(ok);
    const { signal } = new AbortController();
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on("warning", onWarning);
    cleanups.push(() => process.off("warning", onWarning));
    for (let i = 0; i < 10_000; i++) await client.request({ ...get, signal });
    expect(getEventListeners(signal, "abort")).toEqual([]);
    expect(warnings).toEqual([]);
  }, 120_000);

  it("accepts a response without a body only for 204", async () => {
    const { client, server } = await startClient(({ response }) => response.writeHead(204).end());
    expect(await client.request({ ...get, method: "DELETE" })).toBeUndefined();
    server.handler = ({ response }) => void response.writeHead(200).end();
    expect(await failure(client.request(get))).toMatchObject({ code: "BadResponse" });
  });
});

describe("a request without a response", () => {
  it("times out and says what it waited for", async () => {
    const { server, platform, client } = await startClient(() => {});
    const result = failure(client.request({ ...put, timeoutMs: 2500 }));
    await server.requests(1);
    await platform.clock.pass(2499);
    await platform.clock.pass(1);
    const error = await result;
    expect(error.code).toBe("Timeout");
    expect(error.message).toBe(
      `Cannot update leases.coordination.k8s.io "my-lock" in namespace "prod": timed out after 2500 ms waiting for a response from ${server.url}.`,
    );
    expect(platform.clock.dueInMs).toEqual([]);
  });

  it("times out after ten seconds by default", async () => {
    const { server, platform, client } = await startClient(() => {});
    const result = failure(client.request(get));
    await server.requests(1);
    expect(platform.clock.dueInMs).toEqual([10_000]);
    await platform.clock.pass(10_000);
    expect((await result).code).toBe("Timeout");
  });

  it("closes every idle connection when it times out, so that the next attempt uses a new one", async () => {
    const { server, platform, client } = await startClient(ok);
    // Two connections in the pool. After a network partition both are dead.
    const held: Seen[] = [];
    server.handler = (seen) => {
      held.push(seen);
      if (held.length === 2) for (const each of held) ok(each);
    };
    await Promise.all([client.request(get), client.request(get)]);
    expect(server.connections).toBe(2);
    server.handler = () => {};
    const old = new Set(server.seen.map((seen) => seen.socket));
    const result = failure(client.request({ ...get, timeoutMs: 1000 }));
    await server.requests(3);
    await platform.clock.pass(1000);
    await result;
    server.handler = ok;
    await client.request(get);
    expect(old).not.toContain(server.seen[3]?.socket);
    expect(server.connections).toBe(3);
    for (const socket of old) await closed(socket);
  });

  it("does not affect another request in flight, whose connection closes when it completes", async () => {
    const { server, platform, client } = await startClient(() => {});
    const other = client.request({ ...put, timeoutMs: 5000 });
    const { socket } = await server.requests(1);
    const result = failure(client.request({ ...get, timeoutMs: 1000 }));
    await server.requests(2);
    await platform.clock.pass(1000);
    await result;
    ok(server.seen[0] as Seen);
    expect(await other).toEqual({ kind: "Lease" });
    await closed(socket);
  });

  it("rejects with Aborted at whatever moment the signal aborts", async () => {
    for (let steps = 0; steps < 40; steps++) {
      const controller = new AbortController();
      const abortLater = async (): Promise<void> => {
        for (let i = 0; i < steps; i++) await undefined;
        controller.abort();
      };
      const headers = async (): Promise<Record<string, string>> => {
        void abortLater();
        return {};
      };
      const { client } = await startClient(() => {}, {
        credentials: { headers, tls: async () => ({}), refresh: async () => {} },
      });
      expect(await failure(client.request({ ...put, signal: controller.signal }))).toMatchObject({
        code: "Aborted",
      });
    }
  });

  it("rejects when its signal aborts, and its connection is not used again", async () => {
    const { server, client } = await startClient(() => {});
    const controller = new AbortController();
    const result = failure(client.request({ ...put, signal: controller.signal }));
    await server.requests(1);
    controller.abort(new Error("shutting down"));
    expect(await result).toMatchObject({ code: "Aborted", cause: new Error("shutting down") });
    server.handler = ok;
    await client.request(get);
    expect(server.connections).toBe(2);
  });

  it("sends nothing if the signal has already aborted", async () => {
    const { server, client } = await startClient(ok);
    expect(await failure(client.request({ ...put, signal: AbortSignal.abort() }))).toMatchObject({
      code: "Aborted",
    });
    expect(server.seen).toEqual([]);
  });

  it("sends nothing later if it timed out while it waited for credentials", async () => {
    const requested = deferred<void>();
    const slow = deferred<Record<string, string>>();
    const headers = (): Promise<Record<string, string>> => {
      requested.resolve();
      return slow.promise;
    };
    const { server, platform, client } = await startClient(ok, {
      credentials: { headers, tls: async () => ({}), refresh: async () => {} },
    });
    const result = failure(client.request({ ...put, timeoutMs: 1000 }));
    await requested.promise;
    await platform.clock.pass(1000);
    expect((await result).message).toMatch(/timed out after 1000 ms waiting for credentials\.$/);
    slow.resolve({});
    await client.request(get);
    expect(server.seen.map(({ method }) => method)).toEqual(["GET"]);
  });

  it("says that the server refused the connection", async () => {
    const { server, client } = await startClient(ok);
    await server.close();
    const error = await failure(client.request(get));
    expect(error.code).toBe("Unreachable");
    expect(error.message).toContain(`${server.url} refused the connection (ECONNREFUSED)`);
  });
});
