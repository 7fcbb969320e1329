/** Servers that are absent, refuse, send garbage, flood, stall or close in the middle of a message: back-off, no leak, no crash. */
import { randomBytes } from "node:crypto";
import { credentials as grpcCredentials } from "@grpc/grpc-js";
import { afterEach, describe, expect, it } from "vitest";
import { TcpProxy } from "../../chaos/proxy.mjs";
import {
  atTheEnd,
  type Call,
  closeAll,
  consume,
  freePort,
  ItemsClient,
  openSockets,
  serveHttp2,
  serveItems,
  serveSockets,
  until,
} from "./support.ts";

afterEach(closeAll);

const item = (id: number) => ({ id, text: "x".repeat(100) });
const credentials = grpcCredentials.createInsecure();
/**
 * The fourth byte is the type of the first HTTP/2 frame. With 4 it would be settings, which are the right beginning: Node does not close a
 * connection on which they go wrong, and the consumer waits for its time limit.
 */
const noise = () => {
  const bytes = randomBytes(4_096);
  bytes[3] = 0xff;
  return bytes;
};
const backOffMs = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000];

describe("a server that is absent", () => {
  it("is retried after 1, 2, 4, 8, 16, 30, 30 s, and used as soon as it listens", async () => {
    const port = await freePort();
    const { clock, handled, breaks, broken } = consume(port);
    await breaks(7);
    expect(broken.map(({ retryInMs }) => retryInMs)).toEqual(backOffMs);
    expect(broken[0]?.message).toContain("ECONNREFUSED");
    await serveItems((call) => call.write(item(1)), port);
    await clock.pass(30_000);
    await until(() => handled.length === 1, "the first message");
  });

  it("is retried by the back-off of the consumer, whatever another client of the process does", async () => {
    const port = await freePort();
    const { clock, handled, breaks } = consume(port, {
      client: (channel) => {
        const options = { ...channel, "grpc.initial_reconnect_backoff_ms": 120_000 };
        // It has the same address and options, has failed, and waits by the back-off of grpc-js.
        const sibling = new ItemsClient(`127.0.0.1:${port}`, credentials, options);
        sibling.getChannel().getConnectivityState(true);
        atTheEnd(() => sibling.close());
        return new ItemsClient(`127.0.0.1:${port}`, credentials, options);
      },
    });
    await breaks(1);
    await serveItems((call) => call.write(item(1)), port);
    await clock.pass(1_000);
    await until(() => handled.length === 1, "the first message");
  });

  it("leaves no sockets open after many attempts", async () => {
    const { breaks, consumer, clock } = consume(await freePort());
    const before = openSockets();
    await breaks(50);
    expect(openSockets()).toBeLessThanOrEqual(before);
    await consumer.shutdown();
    expect(clock.armed).toBe(0);
  });
});

describe("a server that refuses", () => {
  it("by closing every connection: one connection per attempt", async () => {
    const server = await serveSockets((socket) => socket.destroy());
    const { breaks, broken } = consume(server.port);
    await breaks(7);
    expect(broken.map(({ retryInMs }) => retryInMs)).toEqual(backOffMs);
    expect(server.connections).toBe(7);
    await until(() => server.open === 0, "the end of all sockets");
  });

  it("by closing every connection: a closed client does not reconnect", async () => {
    const server = await serveSockets((socket) => socket.destroy());
    const { breaks } = consume(server.port, {
      // The default of grpc-js is a second.
      client: (channel) =>
        new ItemsClient(`127.0.0.1:${server.port}`, credentials, {
          ...channel,
          "grpc.initial_reconnect_backoff_ms": 50,
        }),
    });
    await breaks(5);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(server.connections).toBe(5);
  });

  it.each([
    [7, "PERMISSION_DENIED"],
    [12, "UNIMPLEMENTED"],
    [14, "UNAVAILABLE"],
    [16, "UNAUTHENTICATED"],
  ])("with status %i: reports it, and retries with a back-off", async (code, name) => {
    const port = await serveItems((call: Call) => call.emit("error", { code, details: "go away" }));
    const { breaks, broken } = consume(port);
    await breaks(4);
    expect(broken.map(({ retryInMs }) => retryInMs)).toEqual(backOffMs.slice(0, 4));
    expect(broken[0]).toMatchObject({ status: code, message: `The stream broke: ${code} ${name}: go away.` });
  });
});

describe("a server that sends garbage", () => {
  it.each([
    ["noise", noise],
    ["HTTP/1.1", () => "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\nno"],
    ["an SSH greeting", () => "SSH-2.0-OpenSSH_9.6\r\n"],
  ])("%s", async (_name, bytes) => {
    const server = await serveSockets((socket) => socket.write(bytes()));
    const { breaks, broken } = consume(server.port);
    await breaks(4);
    expect(broken.map(({ retryInMs }) => retryInMs)).toEqual(backOffMs.slice(0, 4));
    await until(() => server.open <= 1, "the end of all sockets but the last");
  });

  it("the beginning of settings, and nothing more: until the time limit of a connection", async () => {
    const server = await serveSockets((socket) => socket.write(Buffer.from([0, 0, 60, 4, 0, 0, 0, 0, 0, 1])));
    const { breaks, broken, clock } = consume(server.port);
    await until(() => server.connections === 1, "the connection");
    await clock.pass(10_000);
    await breaks(1);
    expect(broken[0]?.message).toContain("no connection within 10000 ms");
  });

  it("a web page over HTTP/2", async () => {
    const port = await serveHttp2((stream) => {
      stream.respond({ ":status": 200, "content-type": "text/html" });
      stream.end("<html>welcome</html>");
    });
    const { breaks, broken } = consume(port);
    await breaks(4);
    expect(broken.map(({ retryInMs }) => retryInMs)).toEqual(backOffMs.slice(0, 4));
  });

  it("a 503 of a proxy over HTTP/2", async () => {
    const port = await serveHttp2((stream) => {
      stream.respond({ ":status": 503, "content-type": "text/plain" });
      stream.end("no upstream");
    });
    const { breaks, broken } = consume(port);
    await breaks(2);
    expect(broken[0]).toMatchObject({ status: 14 });
  });

  it("a message with a length of 4 GB", async () => {
    const port = await serveHttp2((stream) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" });
      stream.write(Buffer.from([0, 0xff, 0xff, 0xff, 0xff, 1, 2, 3]));
    });
    const { breaks, broken } = consume(port);
    await breaks(3);
    expect(broken[0]?.message).toMatch(/sent a message of 4294967295 bytes, but maxMessageBytes is 4194304/);
  });

  it("a message that cannot be decoded", async () => {
    const port = await serveHttp2((stream) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" });
      stream.write(Buffer.concat([Buffer.from([0, 0, 0, 0, 4]), Buffer.from("{{{{")]));
    });
    const { breaks, broken, handled } = consume(port);
    await breaks(3);
    expect(broken[0]).toMatchObject({ status: 13 });
    expect(handled).toEqual([]);
  });
});

describe("a server that floods", () => {
  it("is stopped by flow control while the handler is busy, and no message is lost", async () => {
    const total = 6_000;
    let written = 0;
    const port = await serveItems((call) => {
      const write = () => {
        while (written < total && !call.cancelled) if (!call.write(item(++written))) break;
        if (written < total) call.once("drain", write);
      };
      write();
    });
    let release = () => {};
    const seen: number[] = [];
    const { consumer } = consume(port, {
      handle: ({ id }) => {
        seen.push(id);
        if (id === 1) return new Promise<void>((resolve) => (release = resolve));
        return undefined;
      },
    });
    await until(() => seen.length === 1, "the first message");
    let last = -1;
    let still = 0;
    await until(() => {
      still = written === last ? still + 1 : 0;
      last = written;
      return still >= 100;
    }, "the server to stop");
    // Two windows of 64 KB, and the buffers of both sides.
    expect(written).toBeLessThan(2_500);
    expect(consumer.stats().inFlight).toBe(1);
    release();
    await until(() => seen.length === total, "the last message");
    expect(seen).toEqual(Array.from({ length: total }, (_, index) => index + 1));
  });
});

describe("a server that stalls", () => {
  it("before the HTTP/2 handshake: the attempt ends after 10 s, and its socket closes", async () => {
    const server = await serveSockets(() => {});
    const { clock, broken, consumer } = consume(server.port);
    await until(() => server.connections === 1, "the connection");
    await clock.pass(10_000);
    await until(() => broken.length === 1, "the break");
    expect(broken[0]?.message).toBe("Cannot connect: no connection within 10000 ms.");
    await until(() => server.open === 0, "the end of the first connection");
    await clock.pass(1_000);
    await until(() => server.connections === 2, "the second connection");
    await consumer.shutdown();
    await until(() => server.open === 0, "the end of the second");
  });

  it("in the middle of a stream: keepalive detects it", async () => {
    const target = await serveItems((call) => call.write(item(1)));
    const port = await freePort();
    const proxy = new TcpProxy({ host: "127.0.0.1", port: target });
    await proxy.listen(port);
    atTheEnd(() => proxy.close());
    const { clock, handled, broken } = consume(port, { keepalive: { everyMs: 100, timeoutMs: 100 } });
    await until(() => handled.length === 1, "the first message");
    proxy.setMode("black-hole");
    await until(() => broken.length === 1, "the break");
    expect(broken[0]).toMatchObject({ status: 14, retryInMs: 1_000 });
    proxy.setMode("normal");
    await clock.pass(1_000);
    await until(() => handled.length === 2, "the message of the next stream");
  });
});

describe("a server that closes in the middle of a message", () => {
  const half = Buffer.concat([Buffer.from([0, 0, 0, 0, 100]), Buffer.from('{"id":1,')]);
  it.each(["by ending the stream", "by resetting it", "by dropping the connection"])("%s", async (way) => {
    const port = await serveHttp2((stream) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" });
      stream.write(half, () => {
        if (way === "by ending the stream") stream.end();
        else if (way === "by resetting it") stream.close(2);
        else stream.session?.destroy();
      });
    });
    const { breaks, broken, handled } = consume(port);
    await breaks(4);
    expect(broken.map(({ retryInMs }) => retryInMs)).toEqual(backOffMs.slice(0, 4));
    expect(handled).toEqual([]);
  });

  it("resumes after the last complete message", async () => {
    const asked: number[] = [];
    const port = await serveItems((call) => {
      asked.push(call.request.after);
      for (let id = call.request.after + 1; id <= call.request.after + 3; id++) call.write(item(id));
      setImmediate(() => call.emit("error", { code: 14, details: "gone" }));
    });
    const { breaks, handled } = consume(port);
    await breaks(4);
    expect(handled).toEqual(Array.from({ length: handled.length }, (_, index) => index + 1));
    expect(asked[1]).toBeGreaterThan(0);
  });
});

describe("a server that reports too many pings", () => {
  it("is pinged half as often from then on", async () => {
    const port = await serveHttp2((stream) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" });
      stream.session?.goaway(11, 0, Buffer.from("too_many_pings"));
    });
    const options: unknown[] = [];
    const { breaks } = consume(port, {
      keepalive: { everyMs: 20_000 },
      open: (client, { metadata }) => {
        options.push(
          (client.getChannel() as never as { internalChannel: { keepaliveTime: number } }).internalChannel
            .keepaliveTime,
        );
        return client.subscribe({ after: 0 }, metadata);
      },
    });
    await breaks(3);
    expect(options).toEqual([20_000, 40_000, 80_000]);
  });
});
