/** The arguments in the manifests match the declarations of the command. */
import { expect, test } from "vitest";
import { tenureArguments } from "../../../packages/cli/src/commands/manifests/arguments.ts";
import { checkOptions, trafficModes } from "../../../packages/cli/src/commands/manifests/options.ts";
import { problemsOf } from "../../repository/docs/command-line.ts";

const combinations = (["run", "sidecar"] as const).flatMap((mode) =>
  trafficModes.map((traffic) => ({ mode, traffic })),
);

test.each(combinations)("$mode, $traffic", async (options) => {
  const checked = checkOptions({
    name: "a",
    namespace: "b",
    image: "c",
    port: 80,
    command: ["x", "--y"],
    ...options,
  });
  const words = [...tenureArguments(checked), ...(options.mode === "run" ? ["--", ...checked.command] : [])];
  expect(await problemsOf(words)).toEqual([]);
});

test("finds an unknown flag", async () => {
  expect(await problemsOf(["run", "--lease-lock-nam=a", "--", "x", "--y"])).toEqual([
    "run has no --lease-lock-nam=a",
  ]);
  expect(await problemsOf(["manifests", "--name", "a"])).toEqual([
    "manifests needs --namespace",
    "manifests needs --image",
  ]);
  expect(await problemsOf(["status"])).toEqual(["status needs 1 arguments: 0"]);
  expect((await problemsOf(["sandbox", "--port", "x"])).join()).toContain("whole number");
  expect(await problemsOf(["nothing"])).toEqual(["there is no command nothing"]);
  expect(await problemsOf(["sandbox", "faults", "add", "latency=2000", "--resource", "leases"])).toEqual([]);
});
