import type { LeaderRecord } from "@tenure/core";
import { expect, it } from "vitest";
import { OwnWrites } from "./own-writes.ts";

const record = (renewTime: string): LeaderRecord => ({
  holderIdentity: "a",
  leaseDurationSeconds: 15,
  acquireTime: "t",
  renewTime,
  leaseTransitions: 0,
});

it("believes the records of others", () => {
  const own = new OwnWrites();
  own.sending(record("1"));
  expect(own.judge(record("2"))).toBe("believe");
});

it("holds back an own write until its answer arrives, which makes it known", () => {
  const own = new OwnWrites();
  own.sending(record("1"));
  expect(own.judge(record("1"))).toBe("hold");
  own.confirmed();
  expect(own.settled()).toBe(false);
  expect(own.judge(record("1"))).toBe("believe");
});

it("asks for a read if the answer to a write that was held back is lost", () => {
  const own = new OwnWrites();
  own.sending(record("1"));
  own.judge(record("1"));
  expect(own.settled()).toBe(true);
  expect(own.judge(record("1"))).toBe("read");
  expect(own.areUnknown).toBe(true);
});

it("an own write stays unknown over later writes that the server rejects", () => {
  const own = new OwnWrites();
  own.sending(record("1"));
  own.settled();
  const second = record("2");
  own.sending(second);
  own.rejected(second);
  own.settled();
  expect(own.judge(record("1"))).toBe("read");
  expect(own.judge(record("2"))).toBe("believe");
  own.confirmed();
  expect(own.areUnknown).toBe(false);
});
