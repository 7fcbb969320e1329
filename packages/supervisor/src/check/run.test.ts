/** Each check against a real server, or a real command. */
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttp2Server, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { mentioning, sleepers, uniqueSeconds, until } from "../testing/processes.ts";
import { frame, requestFor, servingStatus } from "./grpc.ts";
import { parseHealth } from "./parse.ts";
import { ask, describe as inFlagWords } from "./run.ts";

type Closable = Pick<Server, "close" | "listen" | "address">;

const servers: Closable[] = [];
const context = { env: { PATH: process.env.PATH }, cwd: undefined };

async function listen(server: Closable): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", () => resolve()));
  return (server.address() as AddressInfo).port;
}

/** Undefined when the check is passed, otherwise what it said. */
async function problemWith(text: string, signal = AbortSignal.timeout(5_000)): Promise<string | undefined> {
  return ask(parseHealth(text), context, signal).then(
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

  it("nobody listens, or nobody answers", async () => {
    expect(await problemWith(`http://127.0.0.1:${closedPort}/`)).toMatch(/ECONNREFUSED/);
    const port = await listen(createHttpServer(() => {}));
    expect(await problemWith(`http://127.0.0.1:${port}/`, AbortSignal.timeout(50))).toMatch(/abort/);
  });
});

describe("tcp", () => {
  it("passes whoever accepts", async () => {
    const port = await listen(createTcpServer((socket) => socket.on("error", () => {})));
    expect(await problemWith(`tcp://127.0.0.1:${port}`)).toBeUndefined();
    expect(await problemWith(`tcp://127.0.0.1:${closedPort}`)).toMatch(/ECONNREFUSED/);
  });

  it("ends with its signal", async () => {
    // An address of the documentation: packets to it vanish, or are refused where there is no network.
    const problem = await problemWith("tcp://192.0.2.1:9", AbortSignal.timeout(100));
    expect(problem).toMatch(/timeout|ENETUNREACH|EHOSTUNREACH|ECONNREFUSED/);
  });
});

describe("grpc", () => {
  const answerWith = (status: number | undefined, grpcStatus = "0") => {
    const asked: { path: unknown; type: unknown; body: string }[] = [];
    const server = createHttp2Server();
    server.on("stream", (stream: ServerHttp2Stream, headers) => {
      const body: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => body.push(chunk));
      stream.on("end", () => {
        asked.push({
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
    return { server, asked };
  };

  it.each([
    [1, undefined],
    [2, /it says NOT_SERVING/],
    [0, /it says UNKNOWN/],
    [3, /it says SERVICE_UNKNOWN/],
  ])("status %d", async (status, problem) => {
    const port = await listen(answerWith(status).server);
    const said = await problemWith(`grpc://127.0.0.1:${port}`);
    if (problem) expect(said).toMatch(problem);
    else expect(said).toBeUndefined();
  });

  it.each([
    ["5", /does not know this service/],
    ["12", /does not offer grpc.health.v1.Health/],
    ["7", /grpc-status 7/],
  ])("a call that fails with %s", async (grpcStatus, problem) => {
    const port = await listen(answerWith(undefined, grpcStatus).server);
    expect(await problemWith(`grpc://127.0.0.1:${port}/a.Service`)).toMatch(problem);
  });

  it("asks as the protocol has it", async () => {
    const { server, asked } = answerWith(1);
    const port = await listen(server);
    expect(await problemWith(`grpc://127.0.0.1:${port}/ab`)).toBeUndefined();
    expect(asked).toEqual([
      { path: "/grpc.health.v1.Health/Check", type: "application/grpc", body: "00000000040a026162" },
    ]);
  });

  it("nobody listens, or somebody who speaks something else", async () => {
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
  it("passes by 0, and otherwise tells the code and what was printed", async () => {
    expect(await problemWith("exec:exit 0")).toBeUndefined();
    expect(await problemWith("exec:echo no; echo good >&2; exit 3")).toMatch(/: exit code 3: no good$/);
    expect(await problemWith('exec:["/no/such"]')).toMatch(/there is no such program/);
    expect(await problemWith("exec:kill -9 $$")).toMatch(/killed by SIGKILL/);
  });

  it("is killed with its children when its time is over", async () => {
    const name = uniqueSeconds();
    const timeout = new AbortController();
    const asking = problemWith(`exec:sleep ${name} & sleep ${name}`, timeout.signal);
    await until(() => sleepers(name).length === 2);
    timeout.abort(new Error("its time is over"));
    expect(await asking).toMatch(/its time is over/);
    await until(() => mentioning(name).length === 0);
  });

  it("does not wait for what it left in the background", async () => {
    const name = uniqueSeconds();
    expect(await problemWith(`exec:sleep ${name} & exit 0`)).toBeUndefined();
    await until(() => mentioning(name).length === 0);
  });

  it("is not started when its time is over already", async () => {
    expect(await problemWith("exec:exit 0", AbortSignal.abort())).toMatch(/abort/);
  });
});

it.each(["http://a:1/x", "tcp://a:1", "grpc://a:1/s", "grpc://a:1", "exec:a b", 'exec:["a","b"]'])(
  "%s is described as it was written",
  (text) => {
    expect(inFlagWords(parseHealth(text))).toBe(text);
  },
);
