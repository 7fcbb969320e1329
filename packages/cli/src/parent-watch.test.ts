import { VirtualClock } from "@tenure/base/virtual-clock";
import { expect, it } from "vitest";
import { watchParent } from "./parent-watch.ts";
import { fakePlatform } from "./testing/fake-platform.ts";

function watching(env: Record<string, string>, parents: number[]) {
  const clock = new VirtualClock();
  const platform = { ...fakePlatform("", { home: "/", env, clock }), parents: () => [...parents] };
  let calls = 0;
  const stop = watchParent(platform, () => {
    calls += 1;
  });
  return { clock, stop, calls: () => calls };
}
const npm = { npm_command: "exec" };

it.each<[string, number[], number[]]>([
  ["the parent", [30], [1]],
  ["the shell between npm and this process", [31, 30], [1]],
  ["npm itself, while the shell lives on", [31, 30], [31, 1]],
])("notices once that %s has ended", async (_, before, after) => {
  const parents = [...before];
  const { clock, calls } = watching(npm, parents);
  await clock.pass(10_000);
  expect(calls()).toBe(0);
  parents.splice(0, parents.length, ...after);
  await clock.pass(500);
  expect(calls()).toBe(1);
  await clock.pass(10_000);
  expect([calls(), clock.armed]).toEqual([1, 0]);
});

it("watches only if npm started this process and is its ancestor", () => {
  expect(watching({}, [30]).clock.armed).toBe(0);
  expect(watching(npm, [1]).clock.armed).toBe(0);
});

it("stops watching", async () => {
  const parents = [30];
  const { clock, stop, calls } = watching(npm, parents);
  stop();
  parents[0] = 1;
  await clock.pass(10_000);
  expect([calls(), clock.armed]).toEqual([0, 0]);
});
