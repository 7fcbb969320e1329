import { describe, expect, it } from "vitest";
import { Emitter } from "./emitter.ts";

interface Events {
  ping: number;
  pong: string;
}

function newEmitter() {
  const errors: unknown[] = [];
  return { emitter: new Emitter<Events>((error) => errors.push(error)), errors };
}

describe("Emitter", () => {
  it("tells each listener of its own event, in the order in which they came", () => {
    const { emitter } = newEmitter();
    const heard: unknown[] = [];
    emitter.on("ping", (event) => heard.push(["first", event]));
    emitter.on("ping", (event) => heard.push(["second", event]));
    emitter.on("pong", (event) => heard.push(["other", event]));
    emitter.emit("ping", 1);
    emitter.emit("pong", "x");
    expect(heard).toEqual([
      ["first", 1],
      ["second", 1],
      ["other", "x"],
    ]);
  });

  it("knows whether anybody listens", () => {
    const { emitter } = newEmitter();
    expect(emitter.has("ping")).toBe(false);
    const off = emitter.on("ping", () => {});
    expect([emitter.has("ping"), emitter.has("pong")]).toEqual([true, false]);
    off();
    off();
    expect(emitter.has("ping")).toBe(false);
  });

  it("tells a listener of `once` of one event, even if it throws or causes the next event", () => {
    const { emitter, errors } = newEmitter();
    const heard: number[] = [];
    emitter.once("ping", (event) => {
      heard.push(event);
      emitter.emit("ping", event + 1);
      throw new Error("thrown");
    });
    emitter.emit("ping", 1);
    emitter.emit("ping", 5);
    expect([heard, errors.length, emitter.has("ping")]).toEqual([[1], 1, false]);
  });

  it("removes listeners of `on` and `once` by what was added, and no others", () => {
    const { emitter } = newEmitter();
    const heard: string[] = [];
    const listener = (event: number) => heard.push(`listener ${event}`);
    emitter.on("ping", (event) => heard.push(`other ${event}`));
    emitter.on("ping", listener);
    emitter.once("ping", listener);
    emitter.off("pong", listener as never);
    emitter.emit("ping", 1);
    emitter.off("ping", listener);
    emitter.off("ping", listener);
    emitter.emit("ping", 2);
    expect(heard).toEqual(["other 1", "listener 1", "listener 1", "other 2"]);
    const remove = emitter.once("ping", listener);
    remove();
    emitter.emit("ping", 3);
    expect(heard.at(-1)).toBe("other 3");
  });

  it("tells a listener that was added twice only once", () => {
    const { emitter } = newEmitter();
    const heard: number[] = [];
    const listener = (event: number) => void heard.push(event);
    emitter.on("ping", listener);
    emitter.on("ping", listener);
    emitter.emit("ping", 1);
    expect(heard).toEqual([1]);
  });

  it("tells nobody without complaint", () => {
    const { emitter, errors } = newEmitter();
    emitter.emit("ping", 1);
    expect(errors).toEqual([]);
  });

  it("what one listener throws, or rejects with, reaches neither the others nor the caller", async () => {
    const { emitter, errors } = newEmitter();
    const heard: number[] = [];
    emitter.on("ping", () => {
      throw new Error("thrown");
    });
    emitter.on("ping", async () => {
      throw new Error("rejected");
    });
    emitter.on("ping", (event) => heard.push(event));
    emitter.emit("ping", 7);
    await Promise.resolve();
    await Promise.resolve();
    expect(heard).toEqual([7]);
    expect(errors).toEqual([new Error("thrown"), new Error("rejected")]);
  });

  it("a listener that ends itself and listens again hears each event once", () => {
    const { emitter } = newEmitter();
    let heard = 0;
    const again = () => {
      heard += 1;
      off();
      off = emitter.on("ping", again);
    };
    let off = emitter.on("ping", again);
    emitter.emit("ping", 1);
    emitter.emit("ping", 2);
    expect(heard).toBe(2);
  });

  it("one that is added while an event is told hears the next", () => {
    const { emitter } = newEmitter();
    const heard: number[] = [];
    const off = emitter.on("ping", () => {
      off();
      emitter.on("ping", (event) => heard.push(event));
    });
    emitter.emit("ping", 1);
    emitter.emit("ping", 2);
    expect(heard).toEqual([2]);
  });
});
