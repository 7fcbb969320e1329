/** Random actions on a world, for properties. */
import fc from "fast-check";
import { Model } from "./model.ts";
import { type Held, World } from "./world.ts";

export type Action =
  | { readonly do: "win" | "renew" | "end-term" | "terminate" | "hurry" | "die" }
  | { readonly do: "ready" | "quiet" | "watchdog-dies" | "gates-fail" | "not-started" }
  | { readonly do: "lose"; readonly leftMs: number }
  | { readonly do: "exit"; readonly code: number }
  | { readonly do: "check" | "hook"; readonly passes: boolean }
  | { readonly do: "hold" | "release"; readonly what: Held }
  | { readonly do: "pass" | "freeze"; readonly ms: number }
  | { readonly do: "wall"; readonly ms: number };

const termMs = 14_750;
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

export class Play {
  readonly world: World;
  readonly model: Model;
  #token = 0n;
  #isLost = false;

  constructor(options: ConstructorParameters<typeof World>[0]) {
    this.world = new World(options);
    this.model = new Model(this.world);
  }

  act(action: Action): void {
    if (this.world.isDead) return;
    this.#do(action);
    this.model.check();
  }

  #do(action: Action): void {
    const { world, model } = this;
    switch (action.do) {
      case "win":
        // The election has one term at a time, and none that it wins after it was told to stop.
        if (model.isTermOpen) return;
        this.#token += 1n;
        this.#isLost = false;
        model.won(termMs);
        world.win(termMs, this.#token);
        return;
      case "renew":
        // A lost term is not renewed, and one that has run out cannot be.
        if (model.isTermOpen && !this.#isLost && this.#leftMs > 0) world.renew(termMs);
        return;
      case "end-term":
        if (model.isTermOpen) world.send({ type: "term-ending" });
        return;
      case "lose":
        if (!model.isTermOpen) return;
        model.lost();
        this.#isLost = true;
        world.deadline = world.in(Math.max(0, Math.min(action.leftMs, this.#leftMs)));
        world.send({ type: "term-lost", deadline: world.deadline });
        return;
      case "terminate":
        model.terminated();
        world.send({ type: "terminate" });
        return;
      case "hurry":
        world.send({ type: "hurry" });
        return;
      case "die":
        world.die();
        return;
      case "ready":
        if (!world.process || world.state.child.name !== "running") return;
        model.ready();
        world.send({ type: "child-ready", id: world.state.child.id });
        return;
      case "quiet":
        world.quiet();
        return;
      case "watchdog-dies":
        world.killWatchdog();
        return;
      case "gates-fail":
        if (world.areGatesOpen) world.send({ type: "gates-failed", why: "forbidden" });
        return;
      case "not-started":
        world.failToStart();
        return;
      case "exit":
        world.exit({ code: action.code, signal: undefined });
        return;
      case "check": {
        const { check } = world.state.health;
        if (check)
          world.send({ type: "check-ended", id: check.id, failure: action.passes ? undefined : "503" });
        return;
      }
      case "hook":
        world.endHook(action.passes ? undefined : "exit code 1");
        return;
      case "hold":
        world.held.add(action.what);
        return;
      case "release":
        world.release(action.what);
        return;
      case "pass":
        world.pass(action.ms);
        return;
      case "freeze":
        world.freeze(action.ms);
        return;
      case "wall":
        world.wallAheadMs += action.ms;
        world.send({ type: "tick" });
        world.pass(0);
        return;
    }
  }

  get #leftMs(): number {
    const { deadline, now } = this.world;
    return deadline ? Math.min(deadline.monoMs - now.monoMs, deadline.wallMs - now.wallMs) : 0;
  }
}
