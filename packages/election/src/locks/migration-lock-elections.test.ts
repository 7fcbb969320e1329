/** Rolling updates from one lock to the other with real elections: never two leaders. */

import { KubeError } from "@tenure/kube";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FakeApi } from "../testing/fake-api.ts";
import { fromPath, toPath } from "../testing/migration-lock.ts";
import { Rollout, type Stage } from "../testing/rollout.ts";

describe("a migration", () => {
  it("from old to both to new hands over at each step, with growing tokens", async () => {
    const rollout = new Rollout();
    const { clock, log } = rollout;
    let stop = () => {};
    for (const [identity, stage] of [
      ["a", "old"],
      ["b", "both"],
      ["c", "both"],
      ["d", "new"],
    ] as const) {
      const next = rollout.start(identity, stage);
      await clock.pass(5_000);
      stop();
      stop = next;
      await clock.pass(1_000);
    }
    expect(log).toEqual(["a works", "a stopped", "b works", "b stopped", "c works", "c stopped", "d works"]);
    expect(rollout.tokens).toEqual([...rollout.tokens].sort((x, y) => Number(x - y)));
    expect(rollout.mostWorking).toBe(1);
  });

  it("from new to both to old hands over at each step", async () => {
    const rollout = new Rollout();
    const { clock, log } = rollout;
    let stop = () => {};
    for (const [identity, stage] of [
      ["a", "new"],
      ["b", "both"],
      ["c", "old"],
    ] as const) {
      const next = rollout.start(identity, stage);
      await clock.pass(5_000);
      stop();
      stop = next;
      await clock.pass(1_000);
    }
    expect(log).toEqual(["a works", "a stopped", "b works", "b stopped", "c works"]);
  });

  it("makes a replica of both wait for the lease of a dead replica of either lock", async () => {
    for (const stage of ["old", "new"] as const) {
      const rollout = new Rollout();
      const broken = new FakeApi();
      Object.assign(broken, { objects: rollout.api.objects });
      rollout.start("dying", stage);
      await rollout.clock.pass(100);
      const path = stage === "old" ? fromPath : toPath;
      rollout.api.fail = ({ method, body }) =>
        method === "PUT" && JSON.stringify(body).includes("dying")
          ? new KubeError("Unreachable", "x")
          : undefined;
      rollout.start("next", "both");
      await rollout.clock.pass(14_900);
      expect(rollout.log.filter((line) => line.startsWith("next"))).toEqual([]);
      expect(rollout.api.objects.has(path)).toBe(true);
      await rollout.clock.pass(400);
      expect(rollout.log).toContain("next works");
      expect(rollout.mostWorking).toBe(1);
    }
  });

  it("does not let a replica of both lead if it may not write one of the locks", async () => {
    const rollout = new Rollout();
    rollout.api.fail = ({ method, path, body }) =>
      method === "POST" && path.endsWith("/leases") && JSON.stringify(body).includes("both")
        ? new KubeError("Forbidden", "may not create leases")
        : undefined;
    rollout.start("both", "both");
    await rollout.clock.pass(60_000);
    expect(rollout.log).toEqual([]);
    rollout.start("new", "new");
    await rollout.clock.pass(60_000);
    expect(rollout.log).toEqual(["new works"]);
  });

  it.each([fromPath, toPath])(
    "stops a leader at once if one of the objects is deleted (%s)",
    async (path) => {
      const rollout = new Rollout();
      rollout.start("a", "both");
      await rollout.clock.pass(5_000);
      rollout.api.delete(path);
      await rollout.clock.pass(25);
      expect(rollout.log).toEqual(["a works", "a stopped"]);
      await rollout.clock.pass(16_000);
      expect(rollout.log.at(-1)).toBe("a works");
      expect(rollout.api.objects.size).toBe(2);
      expect(rollout.tokens[1]).toBeGreaterThan(rollout.tokens[0] ?? 0n);
    },
  );

  it("needs one write per lock and interval, and no reads", async () => {
    const rollout = new Rollout();
    rollout.start("a", "both");
    await rollout.clock.pass(1_000);
    rollout.api.requests.length = 0;
    await rollout.clock.pass(30_000);
    expect(rollout.api.requests.map(({ method }) => method)).toEqual(Array(20).fill("PUT"));
  });

  it("never has two leaders in neighbouring stages, whatever fails and whatever answers are lost", async () => {
    const stages = fc.constantFrom<[Stage, Stage][]>(["old", "both"], ["both", "both"], ["both", "new"]);
    const trouble = fc.array(
      fc.record({
        afterMs: fc.nat(8_000),
        what: fc.constantFrom("restart a", "restart b", "fail from", "fail to", "lose answers", "mend"),
      }),
      { maxLength: 14 },
    );
    await fc.assert(
      fc.asyncProperty(stages, trouble, fc.nat(1_000), async ([first, second], happenings, seed) => {
        const rollout = new Rollout();
        const { clock, api } = rollout;
        let state = seed;
        const random = () => {
          state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
          return state / 2_147_483_648;
        };
        const stops = { a: rollout.start("a", first, { random }), b: rollout.start("b", second, { random }) };
        let incarnation = 0;
        for (const { afterMs, what } of happenings) {
          await clock.pass(afterMs);
          if (what === "mend") {
            api.fail = undefined;
            api.loseAnswer = undefined;
          } else if (what === "restart a" || what === "restart b") {
            const which = what === "restart a" ? "a" : "b";
            stops[which]();
            stops[which] = rollout.start(`${which}${++incarnation}`, which === "a" ? first : second, {
              random,
            });
          } else if (what === "lose answers") {
            api.loseAnswer = () => random() < 0.5;
          } else {
            const path = what === "fail from" ? "configmaps" : "leases";
            api.fail = (request) =>
              request.path.includes(path) ? new KubeError("Unreachable", "x") : undefined;
          }
        }
        api.fail = undefined;
        api.loseAnswer = undefined;
        await clock.pass(45_000);
        expect(rollout.mostWorking).toBeLessThanOrEqual(1);
        expect(rollout.working).toBe(1);
        expect(rollout.tokens).toEqual([...new Set(rollout.tokens)].sort((x, y) => Number(x - y)));
      }),
      { numRuns: 60 },
    );
  }, 30_000);
});
