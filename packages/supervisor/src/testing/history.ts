/** Runs the histories in testdata. The commands are explained in testdata/README.md. */
import { parseDuration } from "@tenure/base";
import type { Config } from "../machine/types.ts";
import { type Held, World } from "../model/world.ts";
import { describeEffect, describeWorld, time } from "./describe.ts";

/** Plays a history and returns its text with the actual output after each `----`. */
export function runHistory(text: string): string {
  const runner = new HistoryRunner();
  const output: string[] = [];
  let results: string[] = [];
  let isExpectation = false;
  for (const line of text.split("\n")) {
    if (line === "----") {
      output.push(line, ...(results.length > 0 ? results : ["(nothing)"]));
      results = [];
      isExpectation = true;
    } else if (!isExpectation) {
      output.push(line);
      if (line !== "" && !line.startsWith("#")) results.push(...runner.command(line));
    } else if (line === "") {
      output.push(line);
      isExpectation = false;
    }
  }
  if (results.length > 0) throw new Error("the last command has no expected output: end it with ----");
  return output.join("\n");
}

/** The hard deadline of a term, counted from its renewal, for a lease of 15 s. */
const usualTerm = "14.75s";

class HistoryRunner {
  #world = new World();

  command(line: string): string[] {
    const [name = "", ...words] = line.trim().split(/\s+/);
    const lines: string[] = [];
    if (name === "supervisor") this.#world = new World(configFrom(words));
    const world = this.#world;
    world.onEffect = (effect) => {
      const text = describeEffect(effect, world);
      if (text !== undefined) lines.push(`${time(world.monoMs).padEnd(8)} ${text}`);
    };
    this.#run(world, name, words);
    return name === "show" ? [describeWorld(world)] : lines;
  }

  #run(world: World, name: string, words: readonly string[]): void {
    const fields = new Map(words.map((word) => word.split("=") as [string, string]));
    switch (name) {
      case "supervisor":
      case "show":
        return;
      case "start":
      case "terminate":
      case "hurry":
        world.send({ type: name });
        return;
      case "win":
        world.win(ms(fields.get("for") ?? usualTerm), BigInt(fields.get("token") ?? 1));
        return;
      case "renew":
        world.renew(ms(fields.get("for") ?? usualTerm));
        return;
      case "end-term":
        world.send({ type: "term-ending" });
        return;
      case "lose":
        world.deadline = world.in(ms(fields.get("left") ?? "0ms"));
        world.send({ type: "term-lost", deadline: world.deadline });
        return;
      case "ready":
        world.send({ type: "child-ready", id: childId(world) });
        return;
      case "missing":
        world.send({ type: "child-missing", id: childId(world), message: words.join(" ") });
        return;
      case "not-started":
        world.failToStart();
        return;
      case "exit":
        world.exit({ code: Number(fields.get("code") ?? 0), signal: undefined });
        return;
      case "quiet":
        world.quiet();
        return;
      case "check": {
        const failure = words[0] === "passes" ? undefined : "503";
        world.send({ type: "check-ended", id: world.state.health.check?.id ?? 0, failure });
        return;
      }
      case "gates-fail":
        world.send({ type: "gates-failed", why: "forbidden" });
        return;
      case "hook":
        world.endHook(words[0] === "succeeds" ? undefined : "exit code 1");
        return;
      case "already-done":
        world.alreadyDone();
        return;
      case "hold":
        world.held.add(words[0] as Held);
        return;
      case "release":
        world.release(words[0] as Held);
        return;
      case "watchdog-dies":
        world.killWatchdog();
        return;
      case "wait":
        world.pass(ms(words[0]));
        return;
      case "freeze":
        world.freeze(ms(words[0]));
        return;
      case "wall":
        world.wallAheadMs += (words[0]?.startsWith("-") ? -1 : 1) * ms(words[0]?.slice(1));
        world.send({ type: "tick" });
        return;
      default:
        throw new Error(`unknown command: ${name}`);
    }
  }
}

function childId({ state }: World): number {
  return state.child.name === "running" ? state.child.id : 0;
}

function configFrom(words: readonly string[]): Partial<Config> {
  const fields = new Map(words.map((word) => word.split("=") as [string, string | undefined]));
  const duration = (word: string, name: keyof Config) =>
    fields.has(word) ? { [name]: ms(fields.get(word)) } : {};
  const hooks = ["preStart", "postStop", "recordCompletion", "roleChange"].filter((hook) => fields.has(hook));
  const health = {
    check: "http://child",
    periodMs: 10_000,
    timeoutMs: 1_000,
    initialDelayMs: 0,
    threshold: 3,
  };
  return {
    ...duration("stop", "stopTimeoutMs"),
    ...duration("start", "startTimeoutMs"),
    ...duration("kill-margin", "killMarginMs"),
    ...duration("cooldown", "cooldownMs"),
    ...(fields.has("on-exit") && { onExit: fields.get("on-exit") as Config["onExit"] }),
    ...(fields.has("max-restarts") && { maxRestarts: Number(fields.get("max-restarts")) }),
    ...(fields.has("when-unhealthy") && {
      whenUnhealthy: fields.get("when-unhealthy") as Config["whenUnhealthy"],
    }),
    ...(fields.has("warm") && { warm: true }),
    ...(fields.has("health") && { health }),
    hookTimeoutMs: Object.fromEntries(hooks.map((hook) => [hook, ms(fields.get(hook))])),
  };
}

function ms(text: string | undefined): number {
  const value = parseDuration(text);
  if (value === undefined) throw new Error(`not a duration: ${text}`);
  return value;
}
