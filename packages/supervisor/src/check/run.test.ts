/** Each check, with a real server or a real command. */
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttp2Server, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { mentioning, sleepers, uniqueSeconds, until } from "../testing/processes.ts";
import { frame, requestFor, servingStatus } from "./grpc.ts";
import { parseHealth } from "./parse.ts";
import { describeCheck, runCheck } from "./run.ts";

type Closable = Pick<Server, "close" | "listen" | "address">;

const servers: Closable[] = [];
const context = { env: { PATH: process.env.PATH }, cwd: undefined };

async function listen(server: Closable): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", () => resolve()));
  return (server.address() as AddressInfo).port;
}

/** The error message of the check; undefined if it passes. */
async function problemWith(text: string, signal = AbortSignal.timeout(5_000)): Promise<string | undefined> {
  return runCheck(parseHealth(text), context, signal).then(
    () => undefined,
    (error) => {
      expect(error.code).toBe("CheckFailed");
      return error.message;
    },
  );
}

/** A port where nobody listens. It is outside the range that the system hands out. */
const closedPort = 1;

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

describe("http", () => {
  it.each([
    [200, true],
    [204, true],
    [302, true],
    [404, false],
    [503, false],
  ])("%d", async (status, passes) => {
    const port = await listen(createHttpServer((_, response) => response.writeHead(status).end("body")));
    const problem = await problemWith(`http://127.0.0.1:${port}/health`);
    expect(problem).toBe(passes ? undefined : `http://127.0.0.1:${port}/health: answered ${status}`);
  });

  it("fails if nobody listens or answers", async () => {
    expect(await problemWith(`http://127.0.0.1:${closedPort}/`)).toMatch(/ECONNREFUSED/);
    const port = await listen(createHttpServer(() => {}));
    expect(await problemWith(`http://127.0.0.1:${port}/`, AbortSignal.timeout(50))).toMatch(/abort/);
  });
});

describe("tcp", () => {
  it("passes if the connection is accepted", async () => {
    const port = await listen(createTcpServer((socket) => socket.on("error", () => {})));
    expect(await problemWith(`tcp://127.0.0.1:${port}`)).toBeUndefined();
    expect(await problemWith(`tcp://127.0.0.1:${closedPort}`)).toMatch(/ECONNREFUSED/);
  });

  it("ends when its signal aborts", async () => {
    // An address reserved for documentation: packets to it are lost, or rejected if there is no network.
    const problem = await problemWith("tcp://192.0.2.1:9", AbortSignal.timeout(100));
    expect(problem).toMatch(/timeout|ENETUNREACH|EHOSTUNREACH|ECONNREFUSED/);
  });
});

describe("grpc", () => {
  const answerWith = (status: number | undefined, grpcStatus = "0") => {
    const requests: { path: unknown; type: unknown; body: string }[] = [];
    const server = createHttp2Server();
    server.on("stream", (stream: ServerHttp2Stream, headers) => {
      const body: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => body.push(chunk));
      stream.on("end", () => {
        requests.push({
          path: headers[":path"],
          type: headers["content-type"],
          body: Buffer.concat(body).toString("hex"),
        });
        if (status === undefined) {
          stream.respond({ ":status": 200, "grpc-status": grpcStatus }, { endStream: true });
          return;
        }
        stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
        stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": grpcStatus }));
        stream.end(frame(status === 0 ? Buffer.alloc(0) : Buffer.of(0x08, status)));
      });
    });
    return { server, requests };
  };

  it.each([
    [1, undefined],
    [2, /the server answered NOT_SERVING/],
    [0, /the server answered UNKNOWN/],
    [3, /the server answered SERVICE_UNKNOWN/],
  ])("status %d", async (status, problem) => {
    const port = await listen(answerWith(status).server);
    const found = await problemWith(`grpc://127.0.0.1:${port}`);
    if (problem) expect(found).toMatch(problem);
    else expect(found).toBeUndefined();
  });

  it.each([
    ["5", /does not know this service/],
    ["12", /does not offer grpc.health.v1.Health/],
    ["7", /grpc-status 7/],
  ])("a call that fails with status %s", async (grpcStatus, problem) => {
    const port = await listen(answerWith(undefined, grpcStatus).server);
    expect(await problemWith(`grpc://127.0.0.1:${port}/a.Service`)).toMatch(problem);
  });

  it("sends the request of the protocol", async () => {
    const { server, requests } = answerWith(1);
    const port = await listen(server);
    expect(await problemWith(`grpc://127.0.0.1:${port}/ab`)).toBeUndefined();
    expect(requests).toEqual([
      { path: "/grpc.health.v1.Health/Check", type: "application/grpc", body: "00000000040a026162" },
    ]);
  });

  it("fails if nobody listens, or the server does not speak HTTP/2", async () => {
    expect(await problemWith(`grpc://127.0.0.1:${closedPort}`)).toMatch(/ECONNREFUSED/);
    const port = await listen(createHttpServer((_, response) => response.end()));
    expect(await problemWith(`grpc://127.0.0.1:${port}`, AbortSignal.timeout(1_000))).toBeTypeOf("string");
  });

  it("reads and writes long texts and unknown fields", () => {
    expect(requestFor("x".repeat(300)).subarray(0, 3).toString("hex")).toBe("0aac02");
    expect(servingStatus(frame(Buffer.of(0x12, 0x02, 0x41, 0x42, 0x18, 0x05, 0x08, 0x01)))).toBe(1);
    expect(() => servingStatus(Buffer.of(1, 0, 0, 0, 0))).toThrow(/not a plain/);
    expect(() => servingStatus(Buffer.alloc(2))).toThrow(/not a plain/);
  });
});

describe("exec", () => {
  it("passes with exit code 0, and otherwise reports the code and the output", async () => {
    expect(await problemWith("exec:exit 0")).toBeUndefined();
    expect(await problemWith("exec:echo no; echo good >&2; exit 3")).toMatch(/: exit code 3: no good$/);
    expect(await problemWith('exec:["/no/such"]')).toMatch(/there is no such program/);
    expect(await problemWith("exec:kill -9 $$")).toMatch(/killed by SIGKILL/);
  });

  it("is killed with its children when its signal aborts", async () => {
    const name = uniqueSeconds();
    const timeout = new AbortController();
    const checking = problemWith(`exec:sleep ${name} & sleep ${name}`, timeout.signal);
    await until(() => sleepers(name).length === 2);
    timeout.abort(new Error("no answer within 1 s"));
    expect(await checking).toMatch(/no answer within 1 s/);
    await until(() => mentioning(name).length === 0);
  });

  it("does not wait for processes in the background, and kills them", async () => {
    const name = uniqueSeconds();
    expect(await problemWith(`exec:sleep ${name} & exit 0`)).toBeUndefined();
    await until(() => mentioning(name).length === 0);
  });

  it("is not started if its signal has already aborted", async () => {
    expect(await problemWith("exec:exit 0", AbortSignal.abort())).toMatch(/abort/);
  });
});

it.each(["http://a:1/x", "tcp://a:1", "grpc://a:1/s", "grpc://a:1", "exec:a b", 'exec:["a","b"]'])(
  "%s is described as it was written",
  (text) => {
    expect(describeCheck(parseHealth(text))).toBe(text);
  },
);
