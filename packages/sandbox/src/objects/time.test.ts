import fc from "fast-check";
import { expect, test } from "vitest";
import { formatMicroTime, parseMicroTime, parseTime } from "./time.ts";

const wallMs = fc.integer({ min: Date.UTC(1, 0), max: Date.UTC(9999, 11, 31) });

test("what is written is read back", () => {
  fc.assert(
    fc.property(wallMs, (ms) => {
      expect(parseMicroTime(formatMicroTime(ms))).toBe(formatMicroTime(ms));
    }),
  );
});

test("a zone changes how an instant is written, not the instant", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 4e12 }),
      fc.integer({ min: -14 * 60, max: 14 * 60 }),
      (ms, offset) => {
        const local = new Date(ms + offset * 60_000).toISOString().slice(0, 19);
        const size = Math.abs(offset);
        const zone = `${offset < 0 ? "-" : "+"}${String(Math.floor(size / 60)).padStart(2, "0")}:${String(size % 60).padStart(2, "0")}`;
        expect(parseTime(`${local}${zone}`)).toBe(`${new Date(ms).toISOString().slice(0, 19)}Z`);
      },
    ),
  );
});

test("a Time loses its decimals", () => {
  expect(parseTime("2024-01-01T00:00:00.999Z")).toBe("2024-01-01T00:00:00Z");
});

test("what is no time is shown byte by byte, as Go does", () => {
  expect(() => parseTime('"\u{c11e6}')).toThrow(
    String.raw`parsing time "\"\xf3\x81\x87\xa6" as "2006-01-02T15:04:05Z07:00": cannot parse "\"\xf3\x81\x87\xa6" as "2006"`,
  );
});
