import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { environment, systemClock, systemRandom, warn } from "./platform.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe("systemClock", () => {
  it("calls back once, at the time or after it, never before", async () => {
    const dueMs = systemClock.now().monoMs + 15.5;
    let calls = 0;
    const calledAtMs = await new Promise<number>((resolve) => {
      systemClock.at(dueMs, () => {
        calls += 1;
        resolve(systemClock.now().monoMs);
      });
    });
    expect(calledAtMs).toBeGreaterThanOrEqual(dueMs);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(calls).toBe(1);
  });

  it("calls back soon for what is due already", async () => {
    await new Promise<void>((resolve) => void systemClock.at(systemClock.now().monoMs - 1_000, resolve));
  });

  it("does not call back what was cancelled, also when it was due already", async () => {
    let calls = 0;
    systemClock.at(systemClock.now().monoMs + 5, () => calls++)();
    const cancelLate = systemClock.at(systemClock.now().monoMs + 5, () => calls++);
    setTimeout(cancelLate, 5);
    block(20);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(calls).toBe(0);
  });

  it("waits longer than Node can in one go", () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate", "hrtime"] });
    let isCalled = false;
    const monthMs = 30 * 24 * 3_600_000;
    systemClock.at(systemClock.now().monoMs + monthMs, () => {
      isCalled = true;
    });
    vi.advanceTimersByTime(monthMs - 1_000);
    expect(isCalled).toBe(false);
    vi.advanceTimersByTime(1_100);
    expect(isCalled).toBe(true);
  });

  it("after a blocked event loop, what a socket has is heard before the timer", async () => {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const accepted = once(server, "connection") as Promise<[Socket]>;
    const client = connect(port, "127.0.0.1");
    const [peer] = await accepted;
    await new Promise((resolve) => peer.write("hello", resolve));
    await once(client, "data");
    const order: string[] = [];
    client.on("data", () => order.push("answer"));
    await new Promise<void>((resolve) => {
      systemClock.at(systemClock.now().monoMs + 5, () => {
        order.push("timer");
        resolve();
      });
      setImmediate(() => peer.write("answer", () => block(30)));
    });
    expect(order).toEqual(["answer", "timer"]);
    client.destroy();
    server.close();
  });

  it("has two clocks that go on", () => {
    const before = systemClock.now();
    block(10);
    const after = systemClock.now();
    expect(after.monoMs - before.monoMs).toBeGreaterThanOrEqual(9);
    expect(after.wallMs - before.wallMs).toBeGreaterThanOrEqual(8);
    expect(Math.abs(after.wallMs - Date.now())).toBeLessThan(1_000);
  });
});

describe("the machine", () => {
  it("an empty variable is none", () => {
    vi.stubEnv("TENURE_TEST", "");
    expect(environment("TENURE_TEST")).toBeUndefined();
    vi.stubEnv("TENURE_TEST", "x");
    expect(environment("TENURE_TEST")).toBe("x");
  });

  it("random numbers are in [0, 1)", () => {
    const numbers = Array.from({ length: 100 }, systemRandom);
    expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
    expect(new Set(numbers).size).toBeGreaterThan(90);
  });

  it("a warning has the name of the error, and its stack", () => {
    const emit = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    warn(new TypeError("careful"));
    expect(emit).toHaveBeenCalledWith(expect.stringMatching(/^TypeError: careful\n/), { type: "TypeError" });
    emit.mockRestore();
  });
});
