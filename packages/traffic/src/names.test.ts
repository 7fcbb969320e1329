import { expect, it } from "vitest";
import { electionLabelValue } from "./names.ts";

it("a short name is its own label; a long one is cut and told apart by its hash", () => {
  expect(electionLabelValue("web")).toBe("web");
  const [one, other] = ["a", "b"].map((end) =>
    electionLabelValue(`${"x".repeat(53)}-.-${"y".repeat(100)}${end}`),
  );
  for (const value of [one, other]) expect(value).toMatch(/^[a-z0-9][-a-z0-9.]{0,61}[a-z0-9]$/);
  expect(one).not.toBe(other);
});
