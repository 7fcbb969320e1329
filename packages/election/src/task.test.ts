import { describe, expect, it } from "vitest";
import { RunningTasks, refusalOf } from "./task.ts";

describe("refusalOf", () => {
  it.each([
    ["there is no term", undefined, "not-leading"],
    ["the term is valid", { isValid: true, isEnding: false }, undefined],
    ["the work is being stopped", { isValid: true, isEnding: true }, "ending"],
    ["the clock says that the time is over", { isValid: false, isEnding: false }, "not-leading"],
    ["the time is over, and the work was told to stop", { isValid: false, isEnding: true }, "not-leading"],
  ] as const)("%s", (_when, facts, refusal) => {
    expect(refusalOf(facts)).toBe(refusal);
  });
});

describe("RunningTasks", () => {
  it("is idle when every task has stopped", async () => {
    const tasks = new RunningTasks();
    expect(tasks.isIdle).toBe(true);
    await tasks.idle();
    tasks.started();
    tasks.started();
    let isIdle = false;
    const idle = tasks.idle().then(() => {
      isIdle = true;
    });
    tasks.stopped();
    await Promise.resolve();
    expect([tasks.isIdle, isIdle]).toEqual([false, false]);
    tasks.stopped();
    await idle;
    expect([tasks.isIdle, isIdle]).toEqual([true, true]);
  });
});
