import { expect, it } from "vitest";
import { electionLabelValue } from "./names.ts";

it("keeps a short name as the label value, and shortens a long one with a hash", () => {
  expect(electionLabelValue("web")).toBe("web");
  const [one, other] = ["a", "b"].map((end) =>
    electionLabelValue(`${"x".repeat(53)}-.-${"y".repeat(100)}${end}`),
  );
  for (const value of [one, other]) expect(value).toMatch(/^[a-z0-9][-a-z0-9.]{0,61}[a-z0-9]$/);
  expect(one).not.toBe(other);
});
