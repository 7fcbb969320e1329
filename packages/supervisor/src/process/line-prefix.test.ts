import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LinePrefix, longestHeldBytes } from "./line-prefix.ts";

async function prefixed(...chunks: (string | Buffer)[]): Promise<Buffer> {
  const prefix = new LinePrefix("> ");
  const out: Buffer[] = [];
  prefix.on("data", (chunk: Buffer) => out.push(chunk));
  const ended = new Promise((resolve) => prefix.once("end", resolve));
  for (const chunk of chunks) prefix.write(chunk);
  prefix.end();
  await ended;
  return Buffer.concat(out);
}

describe("LinePrefix", () => {
  it("puts the prefix before each line, even if lines arrive in pieces", async () => {
    expect(String(await prefixed("one\ntw", "o\n\nfo", "ur\n"))).toBe("> one\n> two\n> \n> four\n");
  });

  it("adds a newline to a last line that has none", async () => {
    expect(String(await prefixed("one\ntwo"))).toBe("> one\n> two\n");
  });

  it("prints nothing for empty output", async () => {
    expect(await prefixed()).toHaveLength(0);
  });

  it("holds a line back until it is complete", () => {
    const prefix = new LinePrefix("> ");
    prefix.write("half");
    expect(prefix.read()).toBeNull();
    prefix.write(" and half\n");
    expect(String(prefix.read())).toBe("> half and half\n");
  });

  it("does not hold back a line that is too long", async () => {
    const prefix = new LinePrefix("> ");
    prefix.write(Buffer.alloc(longestHeldBytes + 1, "x"));
    expect((prefix.read() as Buffer).length).toBe(longestHeldBytes + 3);
    prefix.write("y\nz\n");
    expect(String(prefix.read())).toBe("y\n> z\n");
  });

  it("changes no byte, however the bytes are split", async () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)));
    await fc.assert(
      fc.asyncProperty(chunks, async (given) => {
        const input = Buffer.concat(given).toString("latin1");
        const lines = input.split("\n");
        if (lines.at(-1) === "") lines.pop();
        const expected = lines.map((line) => `> ${line}\n`).join("");
        expect((await prefixed(...given)).toString("latin1")).toBe(expected);
      }),
    );
  });
});
