import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatToken } from "./token.ts";

const revision = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

describe("a token", () => {
  it("has leading zeros, and is still a number", () => {
    expect(formatToken(4711n)).toBe("00000000000000004711");
    expect(BigInt(formatToken(4711n))).toBe(4711n);
  });

  it.each<[string, (token: string) => unknown]>([
    ["a string", (token) => token],
    ["a bigint", (token) => BigInt(token)],
    ["JSON", (token) => JSON.parse(JSON.stringify({ token })).token],
  ])("compares correctly as %s", (_kind, read) => {
    fc.assert(
      fc.property(revision, revision, (a, b) => {
        const [left, right] = [read(formatToken(a)), read(formatToken(b))] as [string, string];
        expect([left < right, left === right, left > right]).toEqual([a < b, a === b, a > b]);
      }),
    );
  });

  it("compares correctly with a number and with a bigint that a database returned", () => {
    const [stored, token] = [9n as unknown as string, formatToken(10n)];
    expect([token > stored, token > (9 as unknown as string), token < (11 as unknown as string)]).toEqual([
      true,
      true,
      true,
    ]);
  });

  it("sorts with other tokens", () => {
    const tokens = [100n, 9n, 10n, 99n].map(formatToken);
    expect(tokens.sort().map(BigInt)).toEqual([9n, 10n, 99n, 100n]);
  });
});
