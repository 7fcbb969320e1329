import { describe, expect, it } from "vitest";
import { ElectionError } from "../errors.ts";
import { Semaphore } from "./semaphore.ts";
import { Shards, type ShardsOptions } from "./shards.ts";

const valid = { name: "billing", namespace: "prod", identity: "a", count: 4 };
const messageOf = (options: object) => {
  try {
    new Shards({ ...valid, ...options } as ShardsOptions);
    return "";
  } catch (error) {
    return (error as ElectionError).message;
  }
};

describe("the options of shards", () => {
  it("are accepted with a name and a count", () => {
    expect(new Shards(valid).identity).toBe("a");
    expect(new Shards(valid).of("key")).toMatchObject({ owner: undefined, shard: { count: 4 } });
  });

  it.each([
    [{ count: 0 }, "count must be a whole number from 1 to 4096, but is 0"],
    [{ count: 5_000 }, "count must be a whole number from 1 to 4096, but is 5000"],
    [{ count: "16" }, 'count must be a whole number from 1 to 4096, but is "16"'],
    [{ maxMoving: 0 }, "maxMoving must be a whole number of 1 or more, but is 0"],
    [{ name: "x".repeat(51) }, "name must have at most 50 characters"],
    [{ name: "Billing" }, "name must"],
    [{ cooldown: "soon" }, 'cooldown must be a duration like "15s" or "500ms", but is "soon"'],
    [{ stopTimeout: "0s" }, "stopTimeout must be greater than zero"],
    [{ onOverrun: "ignore" }, "onOverrun must be one of exit, report"],
    [{ renewDeadline: "20s" }, "renewDeadline must be less than leaseDuration"],
    [{ cuont: 3 }, "cuont is not an option; did you mean count?"],
    [{ permits: 3 }, "permits is not an option"],
  ])("%j: %s", (options, message) => {
    expect(messageOf(options)).toMatch(/^Cannot set up the shards: /);
    expect(messageOf(options)).toContain(message);
  });

  it("are all reported at once", () => {
    expect(messageOf({ count: 0, cooldown: "soon" })).toMatch(/cooldown.*;.*count|count.*;.*cooldown/);
  });
});

describe("the options of a semaphore", () => {
  it("need the number of permits", () => {
    const options = { name: "crawler", identity: "a" } as never;
    expect(() => new Semaphore(options)).toThrow(ElectionError);
    expect(() => new Semaphore(options)).toThrow(
      "Cannot set up the semaphore: permits must be a whole number",
    );
  });
});
