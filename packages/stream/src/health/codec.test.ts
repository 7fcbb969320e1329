import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeRequest, decodeResponse, encodeRequest, encodeResponse, servingStatus } from "./codec.ts";

describe("the messages of grpc.health.v1", () => {
  it("are encoded as protobuf", () => {
    expect(encodeRequest({ service: "" })).toEqual(Buffer.alloc(0));
    expect(encodeRequest({ service: "ready" })).toEqual(Buffer.from("0a057265616479", "hex"));
    expect(encodeResponse({ status: servingStatus.serving })).toEqual(Buffer.from("0801", "hex"));
    expect(encodeResponse({ status: servingStatus.unknown })).toEqual(Buffer.alloc(0));
  });

  it("are decoded to what was encoded", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (service) => {
        expect(decodeRequest(encodeRequest({ service }))).toEqual({ service });
      }),
    );
    // A length that takes two bytes.
    const service = "é".repeat(100);
    expect(decodeRequest(encodeRequest({ service }))).toEqual({ service });
    for (const status of Object.values(servingStatus)) {
      expect(decodeResponse(encodeResponse({ status }))).toEqual({ status });
    }
  });

  it("may contain unknown fields", () => {
    const later = Buffer.from("100a 1901020304050607082201782d01020304 0a0161".replaceAll(" ", ""), "hex");
    expect(decodeRequest(later)).toEqual({ service: "a" });
  });

  it("throw a RangeError if they are invalid", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        try {
          expect(typeof decodeRequest(Buffer.from(bytes)).service).toBe("string");
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
