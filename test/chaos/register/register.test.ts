import { describe, expect, it } from "vitest";
import { observerToken, Register } from "./register.mjs";

describe.each([
  ["fenced", true],
  ["open", false],
])("a register that is %s", (_name, isFenced) => {
  it("numbers its writes, and reads back the last one", () => {
    const register = new Register(isFenced);
    expect(register.apply(5n)).toEqual({ outcome: "ok", seq: 0, value: "" });
    expect(register.apply(5n, "a")).toEqual({ outcome: "ok", seq: 1 });
    expect(register.apply(7n, "b")).toEqual({ outcome: "ok", seq: 2 });
    expect(register.apply(observerToken)).toEqual({ outcome: "ok", seq: 2, value: "b" });
  });

  it(isFenced ? "refuses an older token, and forgets it on request" : "accepts an older token", () => {
    const register = new Register(isFenced);
    register.apply(7n);
    expect(register.apply(5n, "a").outcome).toBe(isFenced ? "refused" : "ok");
    expect(register.apply(5n).outcome).toBe(isFenced ? "refused" : "ok");
    expect(register.value).toBe(isFenced ? "" : "a");
    register.forgetTokens();
    expect(register.apply(5n, "b").outcome).toBe("ok");
    expect(register.value).toBe("b");
  });
});
