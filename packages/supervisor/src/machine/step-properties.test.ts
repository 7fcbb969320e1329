/** Random histories of one supervisor, checked by a slow and simple rules. A failure is shrunk and prints its seed. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Action, Play } from "../model/play.ts";
import { action } from "../testing/actions.ts";
import type { Config } from "./types.ts";

const seed = Number(process.env.TENURE_PROPERTY_SEED ?? 20_260_801);
const runs = Number(process.env.TENURE_PROPERTY_RUNS ?? 1_000);

const health = { check: "http://child", periodMs: 5_000, timeoutMs: 1_000, initialDelayMs: 0, threshold: 2 };
const configs = fc.record<Partial<Config>>({
  warm: fc.boolean(),
  stopTimeoutMs: fc.constantFrom(2_000, 25_000),
  startTimeoutMs: fc.constantFrom(4_000, 60_000),
  onExit: fc.constantFrom("restart", "restart", "release", "exit"),
  maxRestarts: fc.constantFrom(0, 1, 5),
  whenUnhealthy: fc.constantFrom("yield", "lead"),
  health: fc.constantFrom(undefined, health),
  hookTimeoutMs: fc.constantFrom({}, {}, { preStart: 3_000, postStop: 3_000, roleChange: 3_000 }),
});
const history = fc.array(action, { minLength: 5, maxLength: 80, size: "max" });

function played(config: Partial<Config>, actions: readonly Action[]): Play {
  const play = Play.start(config);
  for (const each of actions) play.act(each);
  return play;
}

describe("in any history", () => {
  it("the supervisor never does what the model forbids", () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(configs, history, (config, actions) => {
        const { world, rules } = played(config, actions);
        for (const { effect } of world.log) seen.set(effect.type, (seen.get(effect.type) ?? 0) + 1);
        expect(rules.violations).toEqual([]);
      }),
      { seed, numRuns: runs },
    );
    // If the histories never reach these effects, the test proves nothing.
    for (const type of [
      "start-child",
      "stop-child",
      "tell-child",
      "open-gates",
      "close-gates",
      "finish-term",
      "kill-watchdog",
      "step-down",
      "run-hook",
      "stop-hook",
      "run-check",
      "cancel-check",
      "report",
    ]) {
      expect([type, (seen.get(type) ?? 0) > 20]).toEqual([type, true]);
    }
  });

  it("a run that is asked to end leaves nothing, within the time to stop and half a second", () => {
    fc.assert(
      fc.property(configs, history, (config, actions) => {
        const play = played(config, actions);
        const { world, rules } = play;
        if (world.isDead) return;
        for (const what of ["prepare", "spawn", "watchdog"] as const) play.act({ do: "release", what });
        world.renew(600_000);
        play.act({ do: "terminate" });
        world.pass(world.config.stopTimeoutMs + 501);
        expect([rules.isTermOpen, world.process, world.areGatesOpen]).toEqual([false, undefined, false]);
        expect(rules.violations).toEqual([]);
      }),
      { seed, numRuns: Math.ceil(runs / 3) },
    );
  });

  it("the next term is served, once nothing is held back", () => {
    fc.assert(
      fc.property(configs, history, (config, actions) => {
        const play = played(config, actions);
        const { world, rules } = play;
        if (world.isDead || world.state.run !== "running") return;
        for (const what of ["prepare", "spawn", "watchdog", "gates"] as const)
          play.act({ do: "release", what });
        play.act({ do: "lose", leftMs: 5_000 });
        world.pass(60_000);
        for (let turns = 0; turns < 80 && world.state.reportedPhase !== "leader"; turns++) {
          play.act({ do: "win" });
          play.act({ do: "renew" });
          play.act({ do: "hook", passes: true });
          play.act({ do: "ready" });
          world.pass(1_000);
        }
        if (world.state.run === "running") expect(world.state.reportedPhase).toBe("leader");
        expect(rules.violations).toEqual([]);
      }),
      { seed, numRuns: Math.ceil(runs / 3) },
    );
  });
});
