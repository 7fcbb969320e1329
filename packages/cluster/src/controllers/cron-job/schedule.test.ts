import { expect, it } from "vitest";
import { momentsIn, nextTime, parseSchedule } from "./schedule.ts";

const next = (schedule: string, after: string, timeZone?: string) => {
  const ms = nextTime(parseSchedule(schedule), Date.parse(after), momentsIn(timeZone));
  return ms === undefined ? undefined : new Date(ms).toISOString();
};

it.each([
  ["* * * * *", "2030-01-01T00:00:00Z", "2030-01-01T00:01:00.000Z"],
  ["* * * * *", "2030-01-01T00:00:59.999Z", "2030-01-01T00:01:00.000Z"],
  ["*/15 * * * *", "2030-01-01T00:15:00Z", "2030-01-01T00:30:00.000Z"],
  ["5/20 * * * *", "2030-01-01T00:26:00Z", "2030-01-01T00:45:00.000Z"],
  ["30 4 * * *", "2030-01-01T04:30:00Z", "2030-01-02T04:30:00.000Z"],
  ["0 9-17/4 * * mon-fri", "2030-01-04T17:00:00Z", "2030-01-07T09:00:00.000Z"],
  ["0 0 13 * 5", "2030-01-01T00:00:00Z", "2030-01-04T00:00:00.000Z"],
  ["0 0 29 2 *", "2030-01-01T00:00:00Z", "2032-02-29T00:00:00.000Z"],
  ["0 0 * * 7", "2030-01-01T00:00:00Z", "2030-01-06T00:00:00.000Z"],
  ["0 12 1 JAN,jul *", "2030-01-01T12:00:00Z", "2030-07-01T12:00:00.000Z"],
  ["@hourly", "2030-01-01T00:00:00Z", "2030-01-01T01:00:00.000Z"],
  ["0 0 30 2 *", "2030-01-01T00:00:00Z", undefined],
])("%s after %s is %s", (schedule, after, expected) => {
  expect(next(schedule, after)).toBe(expected);
});

it("counts in a time zone", () => {
  expect(next("0 9 * * *", "2030-01-01T00:00:00Z", "Asia/Kolkata")).toBe("2030-01-01T03:30:00.000Z");
  expect(next("0 9 * * *", "2030-07-01T00:00:00Z", "Europe/Berlin")).toBe("2030-07-01T07:00:00.000Z");
  expect(() => momentsIn("Nowhere/Here")).toThrow();
});

it.each([
  ["* * * *", "five fields"],
  ["60 * * * *", "0 to 59"],
  ["* * * * mon-", "0 to 7"],
  ["*/0 * * * *", "a whole number from 1"],
])("%s is rejected", (schedule, message) => {
  expect(() => parseSchedule(schedule)).toThrow(message);
});
