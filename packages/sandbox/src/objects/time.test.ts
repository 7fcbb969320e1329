import fc from "fast-check";
import { expect, test } from "vitest";
import { parseMicroTime, parseTime } from "./time.ts";

const wallMs = fc.integer({ min: Date.UTC(1, 0), max: Date.UTC(9999, 11, 31) });

test("a MicroTime in UTC is read unchanged", () => {
  fc.assert(
    fc.property(wallMs, fc.integer({ min: 0, max: 999 }), (ms, micros) => {
      const text = new Date(ms).toISOString().replace("Z", `${String(micros).padStart(3, "0")}Z`);
      expect(parseMicroTime(text)).toBe(text);
    }),
  );
});

test("times with a zone offset are converted to UTC", () => {
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

test("the decimals of a Time are dropped", () => {
  expect(parseTime("2024-01-01T00:00:00.999Z")).toBe("2024-01-01T00:00:00Z");
});

test("the error for an invalid time shows its bytes, as Go does", () => {
  expect(() => parseTime('"\u{c11e6}')).toThrow(
    String.raw`parsing time "\"\xf3\x81\x87\xa6" as "2006-01-02T15:04:05Z07:00": cannot parse "\"\xf3\x81\x87\xa6" as "2006"`,
  );
});

test.each([
  ["2024-02-30T00:00:00Z", "day out of range"],
  ["2023-02-29T00:00:00Z", "day out of range"],
  ["2024-13-01T00:00:00Z", "month out of range"],
  ["2024-01-01T24:00:00Z", "hour out of range"],
  ["2024-01-01T00:00:60Z", "second out of range"],
])("a time that does not exist is rejected: %s", (text, why) => {
  expect(() => parseTime(text)).toThrow(why);
  expect(() => parseMicroTime(text.replace("Z", ".000000Z"))).toThrow(why);
});

test("every day of a year is read as Date reads it", () => {
  for (const year of [2023, 2024]) {
    for (let day = 1; day <= 366; day++) {
      const text = `${new Date(Date.UTC(year, 0, day)).toISOString().slice(0, 19)}Z`;
      expect(parseTime(text)).toBe(text);
    }
  }
  for (const day of ["02-30", "02-31", "04-31", "06-31", "09-31", "11-31", "01-32", "01-00", "00-01"])
    expect(() => parseTime(`2024-${day}T00:00:00Z`)).toThrow("out of range");
});
