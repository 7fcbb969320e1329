import { existsSync } from "node:fs";
import { stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import type { ScriptedElection } from "@tenure/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type StatusServerOptions, startStatusServer } from "./server.ts";
import { openEventStream, rawSocket, sendRequest } from "./testing/http.ts";
import { TestStatusServer } from "./testing/test-status-server.ts";

let fixture: TestStatusServer;
let election: ScriptedElection;

beforeEach(async () => {
  fixture = await TestStatusServer.create();
  ({ election } = fixture);
});
afterEach(() => fixture.close());

const start = (options: Partial<StatusServerOptions> = {}) => fixture.start(options);

describe("hostile clients", () => {
  it("rejects headers that are too large, and serves the next request", async () => {
    const address = await start();
    const headers = { "x-bomb": "x".repeat(10_000) };
    expect((await sendRequest(address, "/leader", { headers })).status).toBe(431);
    expect((await sendRequest(address, "/leader")).status).toBe(200);
  });

  it("disconnects a client that sends its request too slowly", async () => {
    const socket = await rawSocket(await start());
    socket.write("GET /leader HTTP/1.1\r\nHost: x\r\n");
    await socket.ended;
    expect(socket.received).toMatch(/^HTTP\/1.1 408/);
  }, 15_000);

  it("gives the place of the connection that waited longest to a new one", async () => {
    const address = await start({ maxConnections: 2 });
    const first = await rawSocket(address);
    const second = await rawSocket(address);
    const third = await rawSocket(address);
    await first.ended;
    for (const socket of [second, third]) {
      socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
      await socket.untilReceived("200 OK");
      socket.destroy();
    }
  });

  it("responds 400 to a malformed request", async () => {
    const socket = await rawSocket(await start());
    socket.write("hello\r\n\r\n");
    await socket.ended;
    expect(socket.received).toMatch(/^HTTP\/1.1 400/);
  });
});

describe("a thousand hostile connections", () => {
  const probeTimeoutMs = 3_000;

  async function attack(address: string, from: readonly string[]): Promise<() => void> {
    const texts = [
      "",
      "GET /leader HTTP/1.1\r\nHost: x\r\nX-Slow: ",
      "GET /leader HTTP/1.1\r\nHost: x\r\n\r\n",
    ];
    const sockets = await Promise.all(
      Array.from({ length: 1_000 }, async (_, index) => {
        const socket = await rawSocket(address, from[index % from.length]);
        // One third sends nothing, one third sends slowly, one third keeps its connection alive after a response.
        socket.write(texts[index % texts.length] ?? "");
        return socket;
      }),
    );
    return () => {
      for (const socket of sockets) socket.destroy();
    };
  }

  it.each([
    ["from one address", ["127.0.0.1"]],
    ["from other addresses", Array.from({ length: 250 }, (_, index) => `127.0.1.${index + 1}`)],
  ])("%s do not keep probes from being answered", async (_from, addresses) => {
    const address = await start();
    const end = await attack(address, addresses);
    for (const path of ["/healthz", "/readyz", "/healthz"]) {
      const answer = await Promise.race([sendRequest(address, path), rejectAfter(probeTimeoutMs)]);
      expect(answer.status).toBe(200);
    }
    end();
  });

  it("do not end event streams", async () => {
    const address = await start();
    const events = await openEventStream(address);
    const end = await attack(address, ["127.0.0.1"]);
    election.follow("b");
    await events.until(2);
    expect(events.names).toEqual(["state", "leader-changed"]);
    events.close();
    end();
  });
});

it("event streams of one address leave places for those of others", async () => {
  const address = await start({ maxConnectionsPerAddress: 4 });
  const [first, second] = [await openEventStream(address), await openEventStream(address)];
  expect((await sendRequest(address, "/events")).status).toBe(503);
  const other = await rawSocket(address, "127.0.0.2");
  other.write("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
  await other.untilReceived("event: state");
  for (const stream of [first, second]) stream.close();
  other.destroy();
});

function rejectAfter(ms: number): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms).unref();
  });
}

describe("the address", () => {
  it("in use by another process is reported, with what to do", async () => {
    const other = createServer();
    const port = await new Promise<number>((resolve) => {
      other.listen(0, "127.0.0.1", () => resolve((other.address() as { port: number }).port));
    });
    await expect(
      startStatusServer({ listen: `127.0.0.1:${port}`, source: { election } }),
    ).rejects.toMatchObject({
      code: "CannotListen",
      message: `Cannot serve the status on 127.0.0.1:${port}: another process listens on this address; stop it, or choose another address.`,
    });
    other.close();
    expect(election.listeners).toBe(0);
  });

  it(":0 means every interface", async () => {
    const address = await start({ listen: ":0" });
    expect(address).toMatch(/^http:\/\/0\.0\.0\.0:\d+$/);
    const { port } = new URL(address);
    expect((await sendRequest(`http://127.0.0.1:${port}`, "/leader")).status).toBe(200);
  });

  it("replaces a socket without a listening process, and removes it at the end", async () => {
    const path = join(fixture.folder, "s");
    const { spawnSync } = await import("node:child_process");
    const script = `require("net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
    spawnSync(process.execPath, ["-e", script]);
    expect(existsSync(path)).toBe(true);
    const address = await start({ listen: `unix:${path}` });
    expect((await sendRequest(address, "/leader")).status).toBe(200);
    expect((await stat(path)).mode & 0o777).toBe(0o660);
    await fixture.server?.close();
    expect(existsSync(path)).toBe(false);
  });

  it("does not replace a socket that is in use, or a file that is not a socket", async () => {
    const path = join(fixture.folder, "s");
    await start({ listen: `unix:${path}` });
    const again = startStatusServer({ listen: `unix:${path}`, source: { election } });
    await expect(again).rejects.toThrow("another process listens on this address");
    const file = join(fixture.folder, "file");
    await writeFile(file, "precious");
    const onFile = startStatusServer({ listen: `unix:${file}`, source: { election } });
    await expect(onFile).rejects.toMatchObject({ code: "CannotListen" });
    expect((await stat(file)).size).toBe(8);
  });

  it("reports all invalid options together", async () => {
    const options = {
      listen: "8080",
      source: { election },
      readyMode: "child-ready",
      maxConnections: 0,
      maxConnectionsPerAddress: 1.5,
    } as const;
    await expect(startStatusServer(options)).rejects.toThrow(
      /listen must be :PORT.*; readyMode child-ready needs a child.*; maxConnections must be a whole number of 1 or more, but is 0; maxConnectionsPerAddress .* but is 1.5/,
    );
  });

  it("removes its listeners and closes all connections when the server closes", async () => {
    const address = await start();
    const socket = await rawSocket(address);
    await fixture.server?.close();
    await socket.ended;
    expect(election.listeners).toBe(0);
  });
});
