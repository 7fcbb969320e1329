import { describe, expect, it } from "vitest";
import { FakePlatform } from "../testing/fake-platform.ts";
import { rotatingFile } from "./rotating-file.ts";

function setUp(content: string | undefined, fallback?: string) {
  const platform = new FakePlatform();
  if (content !== undefined) platform.files.set("/token", content);
  return { platform, file: rotatingFile({ path: "/token", what: "the token", platform, fallback }) };
}

describe("rotatingFile", () => {
  it("is read again after a minute, not before", async () => {
    const { platform, file } = setUp("one\n");
    expect(await file.read()).toBe("one");
    platform.files.set("/token", "two");
    platform.advance(59_999);
    expect(await file.read()).toBe("one");
    platform.advance(1);
    expect(await file.read()).toBe("two");
    expect(platform.reads.length).toBe(2);
  });
  it("is read at once after forget()", async () => {
    const { platform, file } = setUp("one");
    await file.read();
    platform.files.set("/token", "two");
    file.forget();
    expect(await file.read()).toBe("two");
  });
  it("keeps what it had while the file is gone or empty, and sees it when it is back", async () => {
    const { platform, file } = setUp("one");
    await file.read();
    platform.advance(60_000);
    platform.files.delete("/token");
    expect(await file.read()).toBe("one");
    platform.files.set("/token", " ");
    expect(await file.read()).toBe("one");
    platform.files.set("/token", "two");
    expect(await file.read()).toBe("two");
  });
  it("is read once for all who ask at the same time", async () => {
    const { platform, file } = setUp("one");
    await Promise.all([file.read(), file.read(), file.read()]);
    expect(platform.reads.length).toBe(1);
  });
  it("says what is wrong when it never could be read", async () => {
    await expect(setUp(undefined).file.read()).rejects.toThrow(
      "Cannot read the token from /token: it does not exist.",
    );
    await expect(setUp("  ").file.read()).rejects.toThrow(
      "Cannot use the token in /token: the file is empty.",
    );
  });
  it("starts with the fallback if there is one", async () => {
    expect(await setUp(undefined, "static").file.read()).toBe("static");
  });
});
