/** One connection of a watch, on a fake request: events of Node that a real server cannot cause at will. */
import { EventEmitter } from "node:events";
import { VirtualClock } from "@tenure/base/virtual-clock";
import { describe, expect, it } from "vitest";
import { Cancellation } from "../cancellation.ts";
import { KubeError } from "../errors.ts";
import type { ApiResponse } from "../http/response.ts";
import type { Outgoing, Session } from "../http/session.ts";
import { CallbackError, readStream } from "./stream.ts";

type Options = Parameters<typeof readStream>[0];

async function start(overrides: Partial<Options> = {}) {
  const request = Object.assign(new EventEmitter(), { end: () => {} });
  const opened: unknown[] = [];
  const agent = { destroyed: 0, destroy: () => void agent.destroyed++ };
  const session = {
    server: "https://api",
    prepare: async () => (outgoing: Outgoing, usedAgent: unknown) => {
      opened.push({ ...outgoing, agent: usedAgent });
      return request;
    },
    watchAgent: () => agent,
  };
  const clock = new VirtualClock();
  const cancellation = new Cancellation();
  const lines: unknown[] = [];
  const bodies: ApiResponse[] = [];
  let connections = 0;
  const result = readStream({
    session: session as unknown as Session,
    clock,
    cancellation,
    path: "/leases?watch=true",
    action: "watch it",
    idleMs: 30_000,
    onConnected: () => void connections++,
    onLine: (line) => void lines.push(line),
    toError: (response) => {
      bodies.push(response);
      return new KubeError("HttpError", "not a stream");
    },
    ...overrides,
  }).then(
    () => "ended",
    (error) => error,
  );
  await new Promise(setImmediate);
  const respond = (statusCode: number | undefined = 200) => {
    const response = Object.assign(new EventEmitter(), { statusCode, headers: { a: "b" } });
    request.emit("response", response);
    return response;
  };
  const isConnected = () => connections;
  return { request, opened, agent, clock, cancellation, lines, bodies, result, respond, isConnected };
}

const line = (text: string) => Buffer.from(`${text}\n`);

describe("a connection", () => {
  it("is a GET on its own agent, which is destroyed at the end", async () => {
    const { opened, agent, respond, result, lines, isConnected, clock } = await start();
    expect(opened).toEqual([{ method: "GET", path: "/leases?watch=true", headers: {}, agent }]);
    const response = respond();
    response.emit("data", line('{"a":1}'));
    response.emit("end");
    expect(await result).toBe("ended");
    expect([lines, isConnected(), agent.destroyed, clock.dueInMs]).toEqual([[{ a: 1 }], 1, 1, []]);
  });

  it("notices a dead peer by keep-alive packets", async () => {
    const { request } = await start();
    const calls: unknown[] = [];
    request.emit("socket", { setKeepAlive: (...args: unknown[]) => calls.push(args) });
    expect(calls).toEqual([[true, 15_000]]);
  });

  it("that breaks is unreachable, whichever event says so", async () => {
    const reset = Object.assign(new Error("reset"), { code: "ECONNRESET" });
    const byRequest = await start();
    byRequest.request.emit("error", reset);
    const byResponse = await start();
    byResponse.respond().emit("error", reset);
    const byClose = await start();
    byClose.respond().emit("close");
    for (const { result } of [byRequest, byResponse, byClose]) {
      expect(await result).toMatchObject({
        code: "Unreachable",
        message:
          "Cannot watch it: https://api closed the connection before the response was complete (ECONNRESET).",
      });
    }
  });

  it("that has ended does not fail or deliver anything any more", async () => {
    const { request, respond, result, lines } = await start();
    const response = respond();
    response.emit("end");
    response.emit("close");
    request.emit("error", new Error("late"));
    response.emit("data", line('{"late":1}'));
    expect(await result).toBe("ended");
    expect(lines).toEqual([]);
  });

  it("whose response comes after the time limit is not used", async () => {
    const { clock, respond, result, isConnected } = await start();
    await clock.pass(10_000);
    respond();
    expect(await result).toMatchObject({ code: "Timeout" });
    expect(isConnected()).toBe(0);
  });

  it("is not opened after a cancellation", async () => {
    const cancellation = new Cancellation();
    const error = new KubeError("Aborted", "enough");
    const session = {
      server: "https://api",
      prepare: async () => {
        cancellation.cancel(error);
        return () => expect.fail("opened");
      },
    };
    const { result } = await start({ cancellation, session: session as unknown as Session });
    expect(await result).toBe(error);
  });
});

describe("a response that is no stream", () => {
  it("is read up to 64 KiB", async () => {
    const { respond, result, bodies } = await start();
    const response = respond(404);
    response.emit("data", Buffer.alloc(65_536));
    response.emit("end");
    expect(await result).toMatchObject({ code: "HttpError" });
    expect(bodies).toMatchObject([{ status: 404, headers: { a: "b" } }]);
    expect(bodies[0]?.body.length).toBe(65_536);
  });

  it("is rejected if it is larger", async () => {
    const { respond, result } = await start();
    respond(404).emit("data", Buffer.alloc(65_537));
    expect(await result).toMatchObject({
      code: "BadResponse",
      message: "Cannot watch it: the response is larger than 65536 bytes.",
    });
  });
});

describe("a line", () => {
  it("may have 8 MiB", async () => {
    const { respond, result, lines } = await start();
    const response = respond();
    response.emit("data", line(`"${"x".repeat(8 * 1024 * 1024 - 3)}"`));
    response.emit("end");
    expect(await result).toBe("ended");
    expect(lines.length).toBe(1);
  });

  it("that is longer ends the stream", async () => {
    const { respond, result } = await start();
    respond().emit("data", Buffer.alloc(8 * 1024 * 1024 + 1, "x"));
    expect(await result).toMatchObject({ code: "BadResponse", cause: expect.any(RangeError) });
  });

  it("that is not JSON ends the stream, with the reason", async () => {
    const { respond, result } = await start();
    respond().emit("data", line("<html>"));
    expect(await result).toMatchObject({
      code: "BadResponse",
      message: 'Cannot watch it: the stream is not JSON. A line starts with "<html>".',
      cause: expect.any(SyntaxError),
    });
  });

  it("for which the callback throws ends the stream with what it threw", async () => {
    const thrown = new Error("a bug of the caller");
    const onLine = () => {
      throw thrown;
    };
    const { respond, result } = await start({ onLine });
    respond().emit("data", line("{}"));
    const error = await result;
    expect(error).toBeInstanceOf(CallbackError);
    expect(error).toMatchObject({ cause: thrown });
  });
});
