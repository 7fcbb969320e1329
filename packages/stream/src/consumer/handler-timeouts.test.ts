import { VirtualClock } from "@tenure/base/virtual-clock";
import { expect, it } from "vitest";
import { HandlerTimeouts } from "./handler-timeouts.ts";

function setUp(timeoutMs = 1_000) {
  const clock = new VirtualClock();
  const overdue: string[] = [];
  const timeouts = new HandlerTimeouts<string>(clock, timeoutMs, (handler) => overdue.push(handler));
  return { clock, overdue, timeouts };
}

it("reports each handler that runs for too long, when it does", async () => {
  const { clock, overdue, timeouts } = setUp();
  timeouts.start("a");
  await clock.pass(400);
  timeouts.start("b");
  await clock.pass(599);
  expect(overdue).toEqual([]);
  await clock.pass(1);
  expect(overdue).toEqual(["a"]);
  await clock.pass(400);
  expect(overdue).toEqual(["a", "b"]);
  expect(timeouts.overdueMs).toBe(1_400);
  expect(timeouts.end("a")).toBe(true);
  expect(timeouts.overdueMs).toBe(1_000);
});

it("does not report a handler that ends in time", async () => {
  const { clock, overdue, timeouts } = setUp();
  timeouts.start("a");
  await clock.pass(999);
  expect(timeouts.end("a")).toBe(false);
  timeouts.start("b");
  await clock.pass(999);
  expect(overdue).toEqual([]);
  expect(timeouts.overdueMs).toBe(0);
});

it("reports nothing after it is closed, nor without a limit", async () => {
  const closed = setUp();
  closed.timeouts.start("a");
  closed.timeouts.close();
  await closed.clock.pass(5_000);
  const unlimited = setUp(Number.POSITIVE_INFINITY);
  unlimited.timeouts.start("a");
  await unlimited.clock.pass(5_000);
  expect([...closed.overdue, ...unlimited.overdue]).toEqual([]);
});
