/** Known bugs of the supervisor's machine, each as a change of the built code. The search must find them. */
import type { Bug } from "../bug.ts";

const machine = (file: string, find: string, replace: string) => ({
  file: `supervisor/machine/${file}.js`,
  find,
  replace,
});

export const bugsInSupervisor: Readonly<Record<string, Bug>> = {
  "finish-while-child-lives": {
    about: "the work counts as stopped as soon as the term ends, although the child still runs",
    edits: [
      machine("settle", 'if (!config.warm && (child.name !== "none" || hook))', "if (false)"),
      machine("settle", "|| isWorking(child)", ""),
    ],
  },
  "start-after-end": {
    about: "a start that was prepared before the term ended goes on",
    edits: [
      machine("settle", "!isGuarded(state) || !isWanted)", "!isGuarded(state))"),
      machine(
        "transitions",
        'if (child.name === "pausing" || child.name === "preparing") {',
        'if (child.name === "pausing") {',
      ),
    ],
  },
  "start-without-watchdog": {
    about: "a child starts before the watchdog knows the deadline",
    edits: [machine("settle", "|| !isGuarded(state) || !isWanted", "|| !isWanted")],
  },
  "stop-time-not-shortened": {
    about: "a loss does not shorten the time of a child that is already stopping",
    edits: [machine("settle", "killAtMs >= child.killAtMs", "child.killAtMs < Infinity")],
  },
  "no-kill-margin": {
    about: "the child of a lost term is killed at the deadline, not before",
    edits: [machine("queries", "- killMarginMs - beforeWatchdogMs", "")],
  },
  "clock-not-asked": {
    about: "a term ends only when the election says so",
    edits: [
      machine("agenda", 'if (term && term.ending?.kind !== "lost")', "if (false)"),
      machine("step", 'if (event.type !== "renewed")', "if (false)"),
    ],
  },
  "silent-watchdog-kept": {
    about: "a watchdog that does not answer is never replaced",
    edits: [machine("agenda", "watchdog.askedMs + silenceMs(state)", "Infinity")],
  },
  "unguarded-child-kept": {
    about: "a child without a watchdog runs on",
    edits: [
      machine("agenda", '"give-up-unguarded", watchdog.unguardedAtMs', '"give-up-unguarded", Infinity'),
      machine("queries", "askedMs + config.stopTimeoutMs, unguardedMs", "askedMs + config.stopTimeoutMs"),
    ],
  },
  "gates-open-before-ready": {
    about: "clients are sent to a child that is still starting",
    edits: [machine("queries", "|| !child.isReady ||", "||")],
  },
  "gates-open-after-loss": {
    about: "the gates stay open while the child of a lost term stops",
    edits: [machine("queries", '|| term.ending?.kind === "lost" || outOfTimeMs', "|| outOfTimeMs")],
  },
  "gates-not-closed": {
    about: "the work counts as stopped although the gates are open",
    edits: [
      machine("settle", "if (gates.isOpen || gates.closing)\n        return;", ""),
      machine("settle", "    moveGates(ctx);\n    finishTerm(ctx);", "    finishTerm(ctx);"),
    ],
  },
  "hook-outlives-term": {
    about: "the work counts as stopped although a hook runs",
    edits: [
      machine("settle", '(child.name !== "none" || hook)', '(child.name !== "none")'),
      machine("queries", "return isStartWanted ? hook.endAtMs : at.monoMs;", "return hook.endAtMs;"),
    ],
  },
  "warm-child-not-killed": {
    about: "a warm child that does not confirm the end of its work is left alone",
    edits: [machine("queries", 'duty.name === "quiesces" ? duty.sinceMs :', "")],
  },
  "warm-child-trusted": {
    about: "a warm child counts as quiet as soon as it is told",
    edits: [
      machine("transitions", 'duty: { name: "quiesces", sinceMs: ctx.at.monoMs }', 'duty: { name: "waits" }'),
    ],
  },
  "start-while-terminating": {
    about: "a run that ends does not end its term, and starts its child again",
    edits: [
      machine(
        "queries",
        'state.term.ending === undefined && state.run === "running"',
        "state.term.ending === undefined",
      ),
      machine(
        "transitions",
        'endTerm(ctx, "on-purpose");\n    ctx.effects.push({ type: "end-election" });',
        'ctx.effects.push({ type: "end-election" });',
      ),
    ],
  },
};
