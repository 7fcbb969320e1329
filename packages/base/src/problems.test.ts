import { describe, expect, it } from "vitest";
import {
  describeProblem,
  describeProblems,
  durationProblem,
  nearest,
  oneOfProblem,
  type Problem,
  quote,
  readDuration,
  readWholeNumber,
  unknownOptions,
} from "./problems.ts";

const problem: Problem = {
  field: "renewDeadline",
  rule: "must be less than {leaseDuration}",
  limit: "15s",
  value: "20s",
  fix: "raise {leaseDuration} to 25s",
};

describe("describeProblem", () => {
  it("uses the names of the options", () => {
    expect(describeProblem(problem)).toBe(
      "renewDeadline must be less than leaseDuration (15s), but is 20s; raise leaseDuration to 25s",
    );
  });

  it("uses any other names", () => {
    const flag = (field: string) => `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    expect(describeProblems([problem], flag)).toEqual([
      "--renew-deadline must be less than --lease-duration (15s), but is 20s; raise --lease-duration to 25s",
    ]);
  });

  it("leaves out what there is none of", () => {
    expect(describeProblem({ field: "identity", rule: "must not be empty" })).toBe(
      "identity must not be empty",
    );
  });

  it("does not replace braces in a value", () => {
    expect(describeProblem(durationProblem("cooldown", "{leaseDuration}"))).toContain(
      'but is "{leaseDuration}"',
    );
  });
});

describe("readDuration", () => {
  it.each([
    ["15s", 15_000, []],
    ["15", undefined, ['cooldown must be a duration like "15s" or "500ms", but is "15"']],
    [undefined, undefined, ['cooldown must be a duration like "15s" or "500ms", but is undefined']],
    ["0s", undefined, ["cooldown must be greater than zero, but is 0s"]],
  ])("%s", (text, ms, expected) => {
    const problems: Problem[] = [];
    expect(readDuration("cooldown", text, problems)).toBe(ms);
    expect(describeProblems(problems)).toEqual(expected);
  });

  it("accepts zero where zero is allowed", () => {
    expect(readDuration("cooldown", "0s", [], { mayBeZero: true })).toBe(0);
  });
});

describe("readWholeNumber", () => {
  it.each([
    ["3", 3, []],
    ["0", undefined, ['permits must be a whole number of 1 or more, but is "0"']],
    ["1.5", undefined, ['permits must be a whole number of 1 or more, but is "1.5"']],
    ["-1", undefined, ['permits must be a whole number of 1 or more, but is "-1"']],
  ])("%s", (text, value, expected) => {
    const problems: Problem[] = [];
    expect(readWholeNumber("permits", text, 1, problems)).toBe(value);
    expect(describeProblems(problems)).toEqual(expected);
  });
});

describe("nearest", () => {
  it("finds a name with a typing mistake in it", () => {
    expect(nearest("relase", ["restart", "release", "exit"])).toBe("release");
  });

  it("finds nothing where no name is similar", () => {
    expect(nearest("pumpkin", ["restart", "release", "exit"])).toBeUndefined();
    expect(oneOfProblem("onExit", ["restart"], "pumpkin").fix).toBeUndefined();
  });
});

describe("quote", () => {
  it("shortens a long text", () => {
    expect(quote("x".repeat(50))).toBe(`"${"x".repeat(40)}…"`);
  });
});

describe("unknownOptions", () => {
  const known = { leaseDuration: true, lock: true } as const;
  it.each<[string, object | undefined, string[]]>([
    ["nothing", undefined, []],
    ["known options", { leaseDuration: "15s", lock: 1 }, []],
    [
      "a misspelled option",
      { leaseDuraton: "15s" },
      ["leaseDuraton is not an option; did you mean leaseDuration?"],
    ],
    ["an option without a value", { Lock: undefined }, ["Lock is not an option; did you mean lock?"]],
    [
      "options that are like no other",
      { toString: 1, banana: 1 },
      [
        "toString is not an option; the options are leaseDuration, lock",
        "banana is not an option; the options are leaseDuration, lock",
      ],
    ],
  ])("%s", (_what, options, expected) => {
    expect(
      describeProblems(unknownOptions(options as { leaseDuration: string; lock: number }, known)),
    ).toEqual(expected);
  });
});
