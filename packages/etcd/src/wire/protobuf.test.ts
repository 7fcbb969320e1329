import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decode, encode, type Message } from "./protobuf.ts";

const inner: Message = { flag: { id: 1, type: "boolean" }, number: { id: 2, type: "integer" } };
const message: Message = {
  bytes: { id: 1, type: "bytes" },
  text: { id: 2, type: "string" },
  number: { id: 3, type: "integer" },
  flag: { id: 4, type: "boolean" },
  inner: { id: 11, type: inner },
  many: { id: 64, type: inner, repeated: true },
};

describe("a message", () => {
  it("is read as it was written", () => {
    const integer = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    const anInner = fc.record({ flag: fc.boolean(), number: integer });
    const values = fc.record({
      bytes: fc.uint8Array(),
      text: fc.string({ unit: "grapheme" }),
      number: integer,
      flag: fc.boolean(),
      inner: fc.option(anInner, { nil: undefined }),
      many: fc.array(anInner),
    });
    fc.assert(
      fc.property(values, (given) => {
        const read = decode(message, encode(message, given));
        expect({ ...read, bytes: [...(read.bytes as Uint8Array)] }).toEqual({
          ...given,
          bytes: [...given.bytes],
        });
      }),
    );
  });

  it("has the bytes that Protocol Buffers prescribe", () => {
    // The examples of the specification: field 1 is 150, field 2 is "testing".
    const example: Message = { a: { id: 1, type: "integer" }, b: { id: 2, type: "string" } };
    expect(encode(example, { a: 150n }).toString("hex")).toBe("089601");
    expect(encode(example, { b: "testing" }).toString("hex")).toBe("120774657374696e67");
    expect(encode(example, { a: -1n }).toString("hex")).toBe("08ffffffffffffffffff01");
  });

  it("may contain unknown fields of every type, which are skipped", () => {
    const more: Message = {
      ...message,
      other: { id: 90, type: "string" },
      another: { id: 91, type: "integer" },
    };
    const bytes = encode(more, { other: "x", another: 300n, number: 7n });
    const fixed = Buffer.from([((20 << 3) % 128) | 1 | 0x80, 1, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(decode(message, Buffer.concat([fixed, bytes]))).toMatchObject({ number: 7n });
  });

  it.each([
    ["ends in the middle of a number", "08ff", "in the middle of a number"],
    ["ends in the middle of a field", "1205aa", "in the middle of a field"],
    [
      "has a field of another type than expected",
      "0a0100".replace("0a", "18").replace("18", "1a"),
      "unexpected type",
    ],
    ["has a field of an unknown wire type", "0f", "unknown wire type 7"],
  ])("that %s is rejected", (_, hex, reason) => {
    expect(() => decode(message, Buffer.from(hex, "hex"))).toThrow(reason);
  });
});
