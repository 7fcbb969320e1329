import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { backgroundClock, systemClock, systemRandom, warn } from "./platform.ts";

afterEach(() => {
  vi.useRealTimers();
});

function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe.each([
  ["systemClock", systemClock],
  ["backgroundClock", backgroundClock],
])("%s", (_name, clock) => {
  it("calls back once, at that time or later", async () => {
    const dueMs = clock.now().monoMs + 15.5;
    let calls = 0;
    const calledAtMs = await new Promise<number>((resolve) => {
      clock.at(dueMs, () => {
        calls += 1;
        resolve(clock.now().monoMs);
      });
    });
    expect(calledAtMs).toBeGreaterThanOrEqual(dueMs);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(calls).toBe(1);
  });

  it("calls back soon if the time has already passed", async () => {
    await new Promise<void>((resolve) => void clock.at(clock.now().monoMs - 1_000, resolve));
  });

  it("does not call back after it was cancelled, even if the timer was due", async () => {
    let calls = 0;
    clock.at(clock.now().monoMs + 5, () => calls++)();
    const cancelLate = clock.at(clock.now().monoMs + 5, () => calls++);
    setTimeout(cancelLate, 5);
    block(20);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(calls).toBe(0);
  });

  it("waits longer than one Node timer can", () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate", "hrtime"] });
    let isCalled = false;
    const monthMs = 30 * 24 * 3_600_000;
    clock.at(clock.now().monoMs + monthMs, () => {
      isCalled = true;
    });
    vi.advanceTimersByTime(monthMs - 1_000);
    expect(isCalled).toBe(false);
    vi.advanceTimersByTime(1_100);
    expect(isCalled).toBe(true);
  });

  it("handles socket data before the timer after the event loop was blocked", async () => {
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
      clock.at(clock.now().monoMs + 5, () => {
        order.push("timer");
        resolve();
      });
      setImmediate(() => peer.write("answer", () => block(30)));
    });
    expect(order).toEqual(["answer", "timer"]);
    client.destroy();
    server.close();
  });

  it("moves both readings forward", () => {
    const before = clock.now();
    block(10);
    const after = clock.now();
    expect(after.monoMs - before.monoMs).toBeGreaterThanOrEqual(9);
    expect(after.wallMs - before.wallMs).toBeGreaterThanOrEqual(8);
    expect(Math.abs(after.wallMs - Date.now())).toBeLessThan(1_000);
  });
});

describe("systemRandom", () => {
  it("returns numbers in [0, 1)", () => {
    const numbers = Array.from({ length: 100 }, systemRandom);
    expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
    expect(new Set(numbers).size).toBeGreaterThan(90);
  });
});

describe("warn", () => {
  it("emits a warning with the name and the stack of the error", () => {
    const emit = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    warn(new TypeError("careful"));
    expect(emit).toHaveBeenCalledWith(expect.stringMatching(/^TypeError: careful\n/), { type: "TypeError" });
    emit.mockRestore();
  });
});
