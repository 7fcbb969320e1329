/** Random actions on a world, for properties. */
import fc from "fast-check";
import type { Action } from "../model/play.ts";
import type { Held } from "../model/world.ts";

const held = fc.constantFrom<Held>("watchdog", "prepare", "gates", "spawn");
const ms = fc.constantFrom(1, 24, 26, 500, 1_000, 3_000, 6_000, 15_000, 30_000);
const often = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary });
const simple = (name: "win") => fc.constant<Action>({ do: name });

export const action: fc.Arbitrary<Action> = fc.oneof(
  ...(["win", "renew", "ready"] as const).map((name) => often(6, simple(name as "win"))),
  ...(["end-term", "quiet", "watchdog-dies"] as const).map((name) => often(2, simple(name as never))),
  ...(["terminate", "hurry", "gates-fail", "not-started", "die"] as const).map((name) =>
    often(1, simple(name as never)),
  ),
  often(2, fc.record({ do: fc.constant("lose" as const), leftMs: fc.constantFrom(0, 400, 2_000, 5_000) })),
  often(3, fc.record({ do: fc.constant("exit" as const), code: fc.nat(1) })),
  often(3, fc.record({ do: fc.constantFrom("check" as const, "hook" as const), passes: fc.boolean() })),
  often(2, fc.record({ do: fc.constantFrom("hold" as const, "release" as const), what: held })),
  often(9, fc.record({ do: fc.constant("pass" as const), ms })),
  often(2, fc.record({ do: fc.constant("freeze" as const), ms })),
  often(1, fc.record({ do: fc.constant("wall" as const), ms: fc.constantFrom(-60_000, 5_000, 60_000) })),
);
