import { afterEach, describe, expect, it } from "vitest";
import { type Seen, sendJson, status } from "../testing/api-server.ts";
import { deferred } from "../testing/deferred.ts";
import { endRequests, failure, get, ok, put, startClient } from "../testing/start-client.ts";

afterEach(endRequests);

describe("a connection that the server has closed", () => {
  /** The server responds to the first request of a connection and resets the connection at the second. */
  const setUpStale = async () => {
    const served = new Set<unknown>();
    return startClient((seen) => {
      if (served.has(seen.socket)) return void seen.socket.destroy();
      served.add(seen.socket);
      ok(seen);
    });
  };
  it("does not fail a GET, which is sent again", async () => {
    const { server, client } = await setUpStale();
    await client.request(get);
    expect(await client.request(get)).toEqual({ kind: "Lease" });
    expect(server.seen.length).toBe(3);
  });
  it("fails a write, which is not sent again", async () => {
    const { server, client } = await setUpStale();
    await client.request(get);
    expect(await failure(client.request(put))).toMatchObject({ code: "Unreachable" });
    expect(server.seen.length).toBe(2);
  });
  it("fails a GET if the connection was new", async () => {
    const { server, client } = await startClient(({ socket }) => void socket.destroy());
    expect(await failure(client.request(get))).toMatchObject({ code: "Unreachable" });
    expect(server.seen.length).toBe(1);
  });
  it("fails a GET whose response has started", async () => {
    const { server, client } = await startClient(ok);
    await client.request(get);
    server.handler = ({ response, socket }) => {
      response.writeHead(200, { "content-length": 100 }).write("{", () => socket.destroy());
    };
    expect(await failure(client.request(get))).toMatchObject({ code: "Unreachable" });
    expect(server.seen.length).toBe(2);
  });
});

describe("a 401", () => {
  const withToken = (refresh: (tokens: string[]) => void) => {
    const tokens = ["old"];
    return {
      headers: async () => ({ authorization: `Bearer ${tokens.at(-1)}` }),
      tls: async () => ({}),
      refresh: async () => refresh(tokens),
    };
  };
  const guard = (seen: Seen): void =>
    seen.headers.authorization === "Bearer new"
      ? ok(seen)
      : sendJson(seen, 401, status(401, "Unauthorized", "Unauthorized"));

  it("renews the credentials and sends the request again, even a write", async () => {
    const { server, client } = await startClient(guard, {
      credentials: withToken((tokens) => tokens.push("new")),
    });
    expect(await client.request(put)).toEqual({ kind: "Lease" });
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(["Bearer old", "Bearer new"]);
  });
  it("fails the request after one retry", async () => {
    const { server, client } = await startClient(guard, { credentials: withToken(() => {}) });
    expect(await failure(client.request(put))).toMatchObject({ code: "Unauthorized", status: 401 });
    expect(server.seen.length).toBe(2);
  });
  it("mentions credentials that could not be read again in the error of any request", async () => {
    const problem = () => "Cannot read the token again.";
    const credentials = { ...withToken(() => {}), problem };
    const { server, client } = await startClient(guard, { credentials });
    expect((await failure(client.request(put))).message).toMatch(
      /are they for another cluster\? Cannot read the token again\.$/,
    );
    server.handler = ({ response }) => void response.writeHead(502).end();
    expect(await failure(client.request(get))).toMatchObject({
      code: "ServerError",
      status: 502,
      message: expect.stringMatching(/ Cannot read the token again\.$/),
    });
  });
  it("times out if the credentials are not renewed in time, and says so", async () => {
    const asked = deferred<void>();
    const refresh = () => {
      asked.resolve();
      return new Promise<void>(() => {});
    };
    const { platform, client } = await startClient(guard, {
      credentials: { ...withToken(() => {}), refresh },
    });
    const result = failure(client.request({ ...put, timeoutMs: 2_500 }));
    await asked.promise;
    await platform.clock.pass(2_500);
    expect((await result).message).toContain(
      "timed out after 2500 ms waiting for new credentials after a 401.",
    );
  });
  it("fails the request with the reason if the credentials cannot be renewed", async () => {
    const { client } = await startClient(guard, {
      credentials: withToken(() => {
        throw new Error("no more tokens");
      }),
    });
    expect(await failure(client.request(put))).toMatchObject({
      code: "BadConfig",
      message: "Cannot get credentials: no more tokens",
    });
  });
});

describe("an invalid response", () => {
  const lines: [why: string, handler: (seen: Seen) => void, code: string, message: string][] = [
    [
      "the page of a proxy",
      ({ response }) => response.writeHead(200).end("<html>\n  <body>Please log in</body></html>"),
      "BadResponse",
      'starts with "<html> <body>Please log in</body></html>". Is there a proxy in between?',
    ],
    [
      "a long page, of which 80 characters are quoted",
      ({ response }) => response.writeHead(200).end("x".repeat(500)),
      "BadResponse",
      `"${"x".repeat(80)}…"`,
    ],
    ["JSON that is not an object", ({ response }) => response.writeHead(200).end("5"), "BadResponse", '"5"'],
    [
      "an error page",
      ({ response }) => response.writeHead(502).end("<h1>Bad gateway</h1>"),
      "ServerError",
      'the server responded with 502 "<h1>Bad gateway</h1>", which is not from Kubernetes',
    ],
    [
      "a redirect",
      ({ response }) => response.writeHead(302, { location: "https://login" }).end(),
      "HttpError",
      "redirects to https://login, and this client does not follow redirects",
    ],
    [
      "a response that is cut off",
      ({ response, socket }) =>
        void response.writeHead(200, { "content-length": 99 }).write("{", () => socket.destroy()),
      "Unreachable",
      "closed the connection before the response was complete",
    ],
    [
      "more than 8 MiB",
      ({ response }) => response.writeHead(200).end(`{"a":"${"x".repeat(9 << 20)}"}`),
      "BadResponse",
      "larger than 8388608 bytes",
    ],
    [
      "bytes that are not HTTP",
      ({ socket }) => void socket.end("SSH-2.0-OpenSSH\r\n"),
      "BadResponse",
      "does not speak HTTP",
    ],
  ];
  it.each(lines)("%s", async (_why, handler, code, message) => {
    const { client } = await startClient(handler);
    const error = await failure(client.request(get));
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
  });
});
