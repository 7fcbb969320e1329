/** A slow, stuck or missing reader never blocks the writer, and as few lines as possible are lost. */
import { VirtualClock } from "@tenure/base/virtual-clock";
import { describe, expect, it } from "vitest";
import { fakePlatform } from "../testing/fake-platform.ts";
import { openSink } from "./sink.ts";

function reader(behave: (bytes: Uint8Array) => Promise<number>) {
  let read = "";
  const platform = fakePlatform("", { home: "/" });
  platform.write = async (_descriptor, bytes) => {
    const taken = await behave(bytes);
    read += new TextDecoder().decode(bytes.subarray(0, taken));
    return taken;
  };
  return { platform, read: () => read };
}

describe("a sink", () => {
  it("keeps the order even if the reader takes a few bytes at a time", async () => {
    const { platform, read } = reader(async (bytes) => Math.min(3, bytes.length));
    const sink = openSink(platform, 2);
    for (const line of ["one\n", "two\n", "three\n"]) sink.write(line);
    await sink.close();
    expect(read()).toBe("one\ntwo\nthree\n");
  });

  it("retries when a pipe is full", async () => {
    let refusals = 2;
    const { platform, read } = reader(async (bytes) => {
      if (refusals-- > 0) throw Object.assign(new Error("full"), { code: "EAGAIN" });
      return bytes.length;
    });
    const sink = openSink(platform, 1);
    sink.write("a\n");
    await sink.close();
    expect(read()).toBe("a\n");
  });

  it("drops lines that do not fit, and reports how many", async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const { platform, read } = reader(async (bytes) => {
      await gate;
      return bytes.length;
    });
    const sink = openSink(platform, 1);
    const line = `${"x".repeat(1023)}\n`;
    for (let count = 0; count < 1030; count++) sink.write(line);
    open();
    await sink.close();
    expect(read()).toBe(`${line.repeat(1024)}6 log lines were dropped because the reader was too slow\n`);
  });

  it("waits for the reader only for a limited time when it closes", async () => {
    const { platform } = reader(() => new Promise(() => {}));
    const clock = new VirtualClock();
    platform.clock = clock;
    const sink = openSink(platform, 1);
    sink.write("a\n");
    const closed = sink.close();
    await clock.pass(2_000);
    await closed;
  });

  it("stops writing when the reader is gone", async () => {
    let attempts = 0;
    const { platform } = reader(async () => {
      attempts += 1;
      throw Object.assign(new Error("gone"), { code: "EPIPE" });
    });
    const sink = openSink(platform, 1);
    sink.write("a\n");
    await sink.close();
    sink.write("b\n");
    await sink.close();
    expect(attempts).toBe(1);
  });
});
