import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { onAbort } from "./on-abort.ts";

describe("onAbort", () => {
  it("tells all, in their order, with one listener on the signal", () => {
    const controller = new AbortController();
    const told: number[] = [];
    for (let index = 0; index < 50; index++) onAbort(controller.signal, () => told.push(index));
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
    controller.abort();
    expect(told).toEqual(Array.from({ length: 50 }, (_, index) => index));
  });

  it("does not tell who ended it, and leaves nothing on the signal when all have", () => {
    const controller = new AbortController();
    const told: string[] = [];
    const endA = onAbort(controller.signal, () => told.push("a"));
    const endB = onAbort(controller.signal, () => told.push("b"));
    endA();
    endA();
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
    endB();
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
    onAbort(controller.signal, () => told.push("c"));
    controller.abort();
    expect(told).toEqual(["c"]);
  });

  it("does not tell a callback that another one has removed", () => {
    const controller = new AbortController();
    const told: string[] = [];
    onAbort(controller.signal, () => endB());
    const endB = onAbort(controller.signal, () => told.push("b"));
    onAbort(controller.signal, () => told.push("c"));
    controller.abort();
    expect(told).toEqual(["c"]);
  });

  it("tells the others if one throws, whose error nobody catches", async () => {
    const uncaught: unknown[] = [];
    const listeners = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException");
    process.once("uncaughtException", (error) => uncaught.push(error));
    const controller = new AbortController();
    const told: string[] = [];
    const problem = new Error("a callback failed");
    onAbort(controller.signal, () => {
      throw problem;
    });
    onAbort(controller.signal, () => told.push("b"));
    controller.abort();
    expect(told).toEqual(["b"]);
    await new Promise(setImmediate);
    for (const listener of listeners) process.on("uncaughtException", listener);
    expect(uncaught).toEqual([problem]);
  });
});
