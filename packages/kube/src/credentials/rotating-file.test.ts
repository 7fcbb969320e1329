import { describe, expect, it } from "vitest";
import { FakePlatform } from "../testing/fake-platform.ts";
import { rotatingFile } from "./rotating-file.ts";

function setUp(content: string | undefined, fallback?: string) {
  const platform = new FakePlatform();
  if (content !== undefined) platform.files.set("/token", content);
  return { platform, file: rotatingFile({ path: "/token", what: "the token", platform, fallback }) };
}

describe("rotatingFile", () => {
  it("reads the file again after a minute, not before", async () => {
    const { platform, file } = setUp("one\n");
    expect(await file.read()).toBe("one");
    platform.files.set("/token", "two");
    await platform.clock.pass(59_999);
    expect(await file.read()).toBe("one");
    await platform.clock.pass(1);
    expect(await file.read()).toBe("two");
    expect(platform.reads.length).toBe(2);
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
    platform.files.set("/token", " ");
    expect(await file.read()).toBe("one");
    platform.files.set("/token", "two");
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
  it("returns the fallback until the file is readable", async () => {
    expect(await setUp(undefined, "static").file.read()).toBe("static");
  });
});
