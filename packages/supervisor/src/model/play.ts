/** Plays actions on a world, under the rules that hold for every supervisor. Actions that cannot happen now do nothing. */
import type { Config } from "../machine/types.ts";
import { Rules } from "./rules.ts";
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

/** The hard deadline of a term, counted from its renewal, for a lease of 15 s. */
const termMs = 14_750;

export class Play {
  readonly world: World;
  readonly rules: Rules;
  #token = 0n;
  #isLost = false;

  constructor(world: World, rules = new Rules(world)) {
    this.world = world;
    this.rules = rules;
  }

  static start(options: Partial<Config>): Play {
    const play = new Play(new World(options));
    play.world.send({ type: "start" });
    return play;
  }

  copy(): Play {
    const world = this.world.copy();
    const other = new Play(world, this.rules.copyFor(world));
    other.#token = this.#token;
    other.#isLost = this.#isLost;
    return other;
  }

  act(action: Action): void {
    if (this.world.isDead) return;
    this.#do(action);
    this.rules.check();
  }

  /** Two plays with the same key continue in the same way. */
  key(): string {
    const { world, rules } = this;
    return JSON.stringify(
      [world.facts(), rules.facts(), this.#isLost, String(this.#token)],
      (_name, value) => {
        if (typeof value === "bigint" || value === Number.POSITIVE_INFINITY) return String(value);
        return value === Number.NEGATIVE_INFINITY ? "-" : value;
      },
    );
  }

  #do(action: Action): void {
    const { world, rules } = this;
    switch (action.do) {
      case "win":
        // The election has one term at a time, and none that it wins after it was told to stop.
        if (rules.isTermOpen) return;
        this.#token += 1n;
        this.#isLost = false;
        rules.won(termMs);
        world.win(termMs, this.#token);
        return;
      case "renew":
        // A lost term is not renewed, and one that has run out cannot be.
        if (rules.isTermOpen && !this.#isLost && this.#leftMs > 0) world.renew(termMs);
        return;
      case "end-term":
        if (!rules.isTermOpen) return;
        rules.ending();
        world.send({ type: "term-ending" });
        return;
      case "lose":
        if (!rules.isTermOpen) return;
        rules.lost();
        this.#isLost = true;
        world.deadline = world.in(Math.max(0, Math.min(action.leftMs, this.#leftMs)));
        world.send({ type: "term-lost", deadline: world.deadline });
        return;
      case "terminate":
        rules.terminated();
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
        rules.ready();
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
