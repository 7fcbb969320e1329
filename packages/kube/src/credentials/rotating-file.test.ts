import { describe, expect, it } from "vitest";
import { FakePlatform } from "../testing/fake-platform.ts";
import { rotatingFile } from "./rotating-file.ts";

function setUp(content: string | undefined, fallback?: string) {
  const platform = new FakePlatform();
  if (content !== undefined) platform.files.set("/token", content);
  return { platform, file: rotatingFile({ path: "/token", what: "the token", platform, fallback }) };
}

/** Every read hangs until the test finishes it. */
function hang(platform: FakePlatform) {
  const pending: ((content: string) => void)[] = [];
  const hung = {
    reads: 0,
    finish: (content: string) => {
      for (const resolve of pending.splice(0)) resolve(content);
    },
  };
  platform.readFile = () => {
    hung.reads += 1;
    return new Promise((resolve) => pending.push(resolve));
  };
  return hung;
}

/** Resolves when a background read of a file that does not hang is over. */
const settled = () => new Promise(setImmediate);

describe("rotatingFile", () => {
  it("reads the file again after a minute, not before", async () => {
    const { platform, file } = setUp("one\n");
    expect(await file.read()).toBe("one");
    platform.files.set("/token", "two");
    await platform.clock.pass(59_999);
    expect(await file.read()).toBe("one");
    await platform.clock.pass(1);
    expect(await file.read()).toBe("one");
    await settled();
    expect(await file.read()).toBe("two");
    expect(platform.reads.length).toBe(2);
  });
  it("uses the last content at once while a later read hangs, and starts no second read", async () => {
    const { platform, file } = setUp("one");
    await file.read();
    const hung = hang(platform);
    for (let minute = 0; minute < 3; minute++) {
      await platform.clock.pass(60_000);
      expect(await file.read()).toBe("one");
    }
    expect(hung.reads).toBe(1);
    hung.finish("two");
    await settled();
    expect(await file.read()).toBe("two");
  });
  it("waits for a second after forget(), once, and for a read that began after it", async () => {
    const { platform, file } = setUp("one");
    await file.read();
    const hung = hang(platform);
    file.forget();
    let content: string | undefined;
    void file.read().then((text) => {
      content = text;
    });
    await platform.clock.pass(999);
    expect(content).toBeUndefined();
    await platform.clock.pass(1);
    expect(content).toBe("one");
    expect(await file.read()).toBe("one");
    file.forget();
    const second = file.read();
    platform.readFile = async () => "three";
    hung.finish("two");
    expect(await second).toBe("three");
    expect(platform.clock.dueInMs).toEqual([]);
  });
  it("says after ten seconds that the file cannot be read again, until it can", async () => {
    const { platform, file } = setUp("one");
    expect(file.problem()).toBeUndefined();
    await file.read();
    await platform.clock.pass(60_000);
    const hung = hang(platform);
    await file.read();
    await platform.clock.pass(9_999);
    expect(file.problem()).toBeUndefined();
    await platform.clock.pass(1);
    expect(file.problem()).toBe(
      "Reading the token again from /token has not finished for 10 s, so the last content is still in use. Does the file system respond?",
    );
    hung.finish("two");
    await settled();
    expect(file.problem()).toBeUndefined();
  });
  it("says why the file cannot be read again", async () => {
    const { platform, file } = setUp("one");
    await file.read();
    for (const [content, why] of [
      [undefined, "it does not exist"],
      ["", "it is empty"],
    ] as const) {
      if (content === undefined) platform.files.delete("/token");
      else platform.files.set("/token", content);
      await platform.clock.pass(60_000);
      await file.read();
      await settled();
      expect(file.problem()).toBe(
        `Cannot read the token again from /token: ${why}, so the last content is still in use.`,
      );
    }
  });
  it("reads the file again after forget()", async () => {
    const { platform, file } = setUp("one");
    await file.read();
    platform.files.set("/token", "two");
    file.forget();
    expect(await file.read()).toBe("two");
  });
  it("keeps the last content while the file is missing or empty, and reads it when it is back", async () => {
    const { platform, file } = setUp("one");
    await file.read();
    await platform.clock.pass(60_000);
    platform.files.delete("/token");
    expect(await file.read()).toBe("one");
    await settled();
    platform.files.set("/token", " ");
    expect(await file.read()).toBe("one");
    await settled();
    platform.files.set("/token", "two");
    expect(await file.read()).toBe("one");
    await settled();
    expect(await file.read()).toBe("two");
  });
  it("reads the file once for concurrent calls", async () => {
    const { platform, file } = setUp("one");
    await Promise.all([file.read(), file.read(), file.read()]);
    expect(platform.reads.length).toBe(1);
  });
  it("rejects with the reason if the file was never readable", async () => {
    await expect(setUp(undefined).file.read()).rejects.toThrow(
      "Cannot read the token from /token: it does not exist.",
    );
    await expect(setUp("  ").file.read()).rejects.toThrow(
      "Cannot use the token in /token: the file is empty.",
    );
  });

  it("returns what was read just now without reading it again, for a minute", async () => {
    const { platform } = setUp("new");
    const file = rotatingFile({ path: "/token", what: "the token", platform, content: "known" });
    expect(await file.read()).toBe("known");
    await platform.clock.pass(60_000);
    await file.read();
    await platform.clock.pass(0);
    expect(await file.read()).toBe("new");
  });

  it("returns the fallback until the file is readable", async () => {
    expect(await setUp(undefined, "static").file.read()).toBe("static");
  });
});
