import { expect, it } from "vitest";
import { reportsProgress } from "./etcd-version.ts";

it.each([
  ["3.3.27", false],
  ["3.4.23", false],
  ["3.4.30", false],
  ["3.4.31", true],
  ["3.5.0", false],
  ["3.5.12", false],
  ["3.5.13", true],
  ["3.6.0-rc.1", true],
  ["3.6.8", true],
  ["3.10.0", true],
  ["4.0.0", true],
  ["", false],
])("whether etcd %s reports the progress of watches correctly: %s", (version, isGood) => {
  expect(reportsProgress(version)).toBe(isGood);
});
