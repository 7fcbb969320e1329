/**
 * The work of one term: one child after the other until the term ends or is given up. When it returns nothing is left of the
 * child and the gates are closed, so the election may release (B5); it does so only if the term was not lost.
 *
 * Two kinds of ending. On purpose: the election renews on while the child stops, for up to stopTimeout. By loss: SIGTERM at
 * once, and SIGKILL early enough for everything to be gone at the hard deadline (G1). A loss while the child stops on purpose
 * makes it the second kind.
 */

import { first, formatDuration } from "@tenure/base";
import { nextStep, type StintEnd } from "./after.ts";
import { type Crew, tellDeadline, timeToStopMs } from "./crew.ts";
import type { HealthMonitor } from "./health/monitor.ts";
import type { TermLike } from "./office.ts";
import { decideRestart, noRestarts } from "./restarts.ts";
import { runStint } from "./stint.ts";

export interface TermHooks {
  readonly onRestarts: (restarts: number) => void;
  readonly onReady: (isReady: boolean) => void;
  readonly onMonitor: (monitor: HealthMonitor | undefined) => void;
}

export async function serveTerm(crew: Crew, term: TermLike, hooks: TermHooks): Promise<void> {
  const { watchdog, gates, manager } = crew;
  crew.enter("elected");
  const unlisten = listen(crew, term);
  try {
    await serve(crew, term, hooks);
  } finally {
    // Nothing, unless something unforeseen was thrown.
    await manager.stop(timeToStopMs(crew, term));
    await gates.close();
    unlisten();
    watchdog.idle();
    crew.enter("ending");
    crew.enter("stopped");
  }
}

async function serve(crew: Crew, term: TermLike, hooks: TermHooks): Promise<void> {
  const { clock, options, onChild } = crew;
  const { maxRestarts, restartWindowMs: windowMs, stableAfterMs } = options;
  let hasLed = false;
  let history = noRestarts;
  for (let restarts = 0; ; restarts++) {
    hooks.onRestarts(restarts);
    const startedMs = clock.now().monoMs;
    const end = await runStint(crew, term, {
      onStarted: (pid) => onChild({ type: "started", pid, restarts }),
      onReady: () => {
        hasLed = true;
        hooks.onReady(true);
        crew.enter("ready");
      },
      onMonitor: hooks.onMonitor,
    });
    hooks.onReady(false);
    hooks.onMonitor(undefined);
    const nowMs = clock.now().monoMs;
    const step = nextStep(end, options.onExit, hasLed);
    if (step === "exit") crew.exit(end);
    const isOver = term.signal.aborted || !term.isValid();
    if (step === "exit" || step === "return" || step === "release" || isOver) return;
    const policy = { maxRestarts, windowMs, stableAfterMs };
    const decision = step === "restart" && decideRestart(policy, history, nowMs, nowMs - startedMs);
    if (!decision || decision.type === "give-up") {
      const tooOften = decision
        ? `; it was restarted ${decision.inWindow} times in ${formatDuration(windowMs)}`
        : "";
      giveUp(crew, `${whyOf(end)}${tooOften}`, hasLed);
      return;
    }
    history = decision.history;
    const { delayMs } = decision;
    onChild({ type: "restarting", delayMs, restarts: restarts + 1, why: whyOf(end) });
    if (delayMs > 0) await first(clock, { ended: term.signal, pause: delayMs });
    if (term.signal.aborted) return;
  }
}

function giveUp({ options, onChild, enter }: Crew, why: string, hasLed: boolean): void {
  const { cooldownMs } = options;
  onChild({ type: "gave-up", cooldownMs, why });
  enter(hasLed ? "ending" : "start-failed");
  options.election.stepDown({ cooldown: formatDuration(cooldownMs) });
}

/** What must happen at once, wherever the work is waiting. */
function listen(crew: Crew, term: TermLike): () => void {
  const { manager, gates, options } = crew;
  const onEnding = () => crew.enter("ending");
  const onLost = () => {
    // First of all: what is to be killed now is killed within this call.
    void manager.stop(timeToStopMs(crew, term));
    void tellDeadline(crew, term);
    void gates.close();
  };
  const offRenewed = options.election.on("renewed", () => {
    void tellDeadline(crew, term);
    gates.renewed(term);
  });
  const signals = [
    [term.signal, onEnding],
    [term.lost, onLost],
    [term.expired, onLost],
  ] as const;
  for (const [signal, listener] of signals) {
    if (signal.aborted) listener();
    else signal.addEventListener("abort", listener, { once: true });
  }
  return () => {
    offRenewed();
    for (const [signal, listener] of signals) signal.removeEventListener("abort", listener);
  };
}

function whyOf(end: StintEnd): string {
  return end.type === "term-ended" ? "the term ended" : end.why;
}
