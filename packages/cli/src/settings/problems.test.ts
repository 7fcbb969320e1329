import { expect, it } from "vitest";
import { exclusive, flagOf, rejectProblems } from "./problems.ts";

const a = { field: "leaseDuration", rule: "must be less than {renewDeadline}" };
const b = { field: "NAME", rule: "must be short", value: '"long"' };

it("accepts no problems, reports one as a sentence and several as a list", () => {
  expect(() => rejectProblems([])).not.toThrow();
  expect(() => rejectProblems([a])).toThrow(/^--lease-duration must be less than --renew-deadline$/);
  expect(() => rejectProblems([a, b], { cannot: "print manifests" })).toThrow(
    "Cannot print manifests, there are 2 problems:\n" +
      "  - --lease-duration must be less than --renew-deadline\n" +
      '  - NAME must be short, but is "long"',
  );
});

it("uses the names that the caller knows", () => {
  expect(() => rejectProblems([a], { nameOf: (field) => field.toUpperCase() })).toThrow(
    "LEASEDURATION must be less than RENEWDEADLINE",
  );
});

it.each([
  ["id", "--id"],
  ["leaseLockName", "--lease-lock-name"],
  ["NAME", "NAME"],
  ["tenure.yaml: id", "tenure.yaml: id"],
])("%s is called %s", (field, name) => {
  expect(flagOf(field)).toBe(name);
});

it("describes settings that exclude each other", () => {
  expect(() => rejectProblems([exclusive("sandbox", "kubeconfig")])).toThrow(
    "--sandbox cannot be combined with --kubeconfig; leave one of them out",
  );
});
