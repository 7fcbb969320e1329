import { createServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { KubeClient } from "./client.ts";
import { KubeError } from "./errors.ts";
import { ApiServer, closed } from "./testing/api-server.ts";
import { fixedCredentials } from "./testing/fake-platform.ts";
import { cleanups, endRequests, failure, get, ok, put, startClient } from "./testing/start-client.ts";

afterEach(endRequests);

describe("KubeClient", () => {
  it("reports a configuration that fails to load, and loads it again at the next request", async () => {
    const server = await ApiServer.start(ok);
    cleanups.push(() => server.close());
    let calls = 0;
    const client = new KubeClient(async () => {
      calls += 1;
      if (calls === 1) throw new Error("not yet");
      return { server: server.url, namespace: "prod", credentials: fixedCredentials() };
    });
    cleanups.push(() => client.close());
    expect(await failure(client.request(get))).toMatchObject({
      code: "BadConfig",
      message: expect.stringContaining("not yet"),
    });
    await client.request(get);
    expect(await client.namespace()).toBe("prod");
    expect(await client.serverAddress()).toBe(server.url);
    expect(calls).toBe(2);
  });

  it("reports an error of this package unchanged", async () => {
    const error = new KubeError("NoConfig", "there is no cluster");
    expect(await failure(new KubeClient(() => Promise.reject(error)).request(get))).toBe(error);
  });

  it("rejects requests and watches after it was closed, and can be closed twice", async () => {
    const client = new KubeClient({ server: "https://api", credentials: fixedCredentials() });
    client.close();
    client.close();
    expect(await failure(client.request(get))).toMatchObject({
      code: "Aborted",
      message: "Cannot send the request: the client is closed.",
    });
  });

  it("does not crash the process if the configuration rejects before the first request", async () => {
    const client = new KubeClient(Promise.reject(new Error("no cluster")));
    await new Promise(setImmediate);
    expect(await failure(client.request(get))).toMatchObject({ code: "BadConfig" });
  });

  it("rejects http:// to another machine before it sends anything", async () => {
    const client = new KubeClient({ server: "http://10.255.255.1:8080", credentials: fixedCredentials() });
    expect((await failure(client.request(get))).message).toContain("unencrypted");
  });

  it("reports a token with a character that a header cannot contain", async () => {
    const { client } = await startClient(ok, {
      credentials: fixedCredentials({ authorization: "Bearer a\nb" }),
    });
    const error = await failure(client.request(get));
    expect(error.code).toBe("BadConfig");
    expect(error.message).toContain("a character that HTTP does not allow");
  });

  it("ends all requests when it is closed", async () => {
    const { server, client } = await startClient(() => {});
    const result = failure(client.request(get));
    const { socket } = await server.requests(1);
    client.close();
    expect(await result).toMatchObject({ code: "Aborted" });
    await closed(socket);
    expect(await failure(client.request(get))).toMatchObject({ code: "Aborted" });
  });

  it("closes idle connections when it is closed", async () => {
    const { server, client } = await startClient(ok);
    await client.request(get);
    client.close();
    await closed((await server.requests(1)).socket);
  });

  it("rejects with a KubeError when the server closes the connection", async () => {
    const raw = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => raw.listen(0, "127.0.0.1", resolve));
    cleanups.push(() => raw.close());
    const { port } = raw.address() as { port: number };
    const client = new KubeClient({ server: `http://127.0.0.1:${port}`, credentials: fixedCredentials() });
    expect(await failure(client.request(put))).toMatchObject({ code: "Unreachable", name: "KubeError" });
  });
});
