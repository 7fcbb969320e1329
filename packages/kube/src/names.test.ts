import { quote } from "@tenure/base";
import { expect, it } from "vitest";
import { nameProblem } from "./names.ts";

it.each(["a", "my-service", "my.service", "0", "a".repeat(253)])("accepts %s", (name) => {
  expect(nameProblem("name", name)).toBeUndefined();
});

it.each([undefined, 7, "", "A", "a_b", "-a", "a-", "../kube-system", "a/b", "a".repeat(254)])(
  "rejects %s",
  (name) => {
    expect(nameProblem("name", name)).toMatchObject({
      field: "name",
      rule: expect.stringContaining("lower case letters"),
      value: quote(name),
    });
  },
);
