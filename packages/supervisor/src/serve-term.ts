/**
 * The work of one term: runs one child after another until the term ends or leadership is given up. When it returns, the child
 * and its descendants have exited and the gates are closed, so the election may release the lease. It releases only a term
 * that was not lost.
 *
 * A term ends in one of two ways. On purpose: the election keeps renewing while the child stops, for up to stopTimeout. By
 * loss: the child gets SIGTERM at once, and SIGKILL early enough to have exited by the hard deadline (G1). A term that is lost
 * while its child stops on purpose ends by loss.
 */
import { first, formatDuration } from "@tenure/base";
import { type ChildEnd, decideAfterEnd } from "./child-end.ts";
import { recordCompletion } from "./completion.ts";
import type { SupervisedTerm } from "./election-seam.ts";
import type { HealthMonitor } from "./health/monitor.ts";
import { decideRestart, noRestarts } from "./restarts.ts";
import { runChild } from "./run-child.ts";
import type { RunContext } from "./run-context.ts";
import { publishDeadline, timeToStopMs } from "./term-deadline.ts";

interface TermHooks {
  readonly onRestarts: (restarts: number) => void;
  readonly onReady: (isReady: boolean) => void;
  readonly onMonitor: (monitor: HealthMonitor | undefined) => void;
}

export async function serveTerm(context: RunContext, term: SupervisedTerm, hooks: TermHooks): Promise<void> {
  const { watchdog, gates, manager } = context;
  context.enterPhase("elected");
  const unlisten = listen(context, term);
  try {
    await serve(context, term, hooks);
  } finally {
    // There is a child to stop only after an unexpected error.
    await manager.stop(timeToStopMs(context, term));
    await gates.close();
    unlisten();
    watchdog.idle();
    context.enterPhase("ending");
    context.enterPhase("stopped");
  }
}

async function serve(context: RunContext, term: SupervisedTerm, hooks: TermHooks): Promise<void> {
  const { clock, options, onChild } = context;
  const { maxRestarts, restartWindowMs: windowMs, stableAfterMs } = options;
  let hasLed = false;
  let history = noRestarts;
  for (let restarts = 0; ; restarts++) {
    hooks.onRestarts(restarts);
    const startedMs = clock.now().monoMs;
    const ended = await runChild(context, term, {
      onStarted: (pid) => onChild({ type: "started", pid, restarts }),
      onReady: () => {
        hasLed = true;
        hooks.onReady(true);
        context.enterPhase("ready");
      },
      onMonitor: hooks.onMonitor,
    });
    hooks.onReady(false);
    hooks.onMonitor(undefined);
    const end = await recordIfDone(context, term, ended);
    const nowMs = clock.now().monoMs;
    const step = decideAfterEnd(end, options.onExit, hasLed);
    if (step === "exit") context.endRun(end);
    const isOver = term.signal.aborted || !term.isValid();
    if (step === "exit" || step === "return" || step === "release" || isOver) return;
    const policy = { maxRestarts, windowMs, stableAfterMs };
    const decision = step === "restart" && decideRestart(policy, history, nowMs, nowMs - startedMs);
    if (!decision || decision.type === "give-up") {
      const tooOften = decision
        ? `; the child was restarted ${decision.inWindow} times in ${formatDuration(windowMs)}`
        : "";
      giveUp(context, `${whyOf(end)}${tooOften}`, hasLed);
      return;
    }
    history = decision.history;
    const { delayMs } = decision;
    onChild({ type: "restarting", delayMs, restarts: restarts + 1, why: whyOf(end) });
    if (delayMs > 0) await first(clock, { ended: term.signal, pause: delayMs });
    if (term.signal.aborted) return;
  }
}

/** Only an exit that nobody asked for is the end of the work: many programs exit with 0 when they are told to stop. */
async function recordIfDone(context: RunContext, term: SupervisedTerm, end: ChildEnd): Promise<ChildEnd> {
  const { completion } = context.options;
  if (!completion || end.type !== "exited" || end.exit.code !== 0) return end;
  return { type: (await recordCompletion(context, term, completion)) ? "completed" : "term-ended" };
}

function giveUp({ options, onChild, enterPhase }: RunContext, why: string, hasLed: boolean): void {
  const { cooldownMs } = options;
  onChild({ type: "gave-up", cooldownMs, why });
  enterPhase(hasLed ? "ending" : "start-failed");
  options.election.stepDown({ cooldown: formatDuration(cooldownMs) });
}

/** Reacts at once to renewals and to the end of the term, whatever the work is waiting for. */
function listen(context: RunContext, term: SupervisedTerm): () => void {
  const { manager, gates, options } = context;
  const onEnding = () => context.enterPhase("ending");
  const onLost = () => {
    // First, because a child that has no time left is killed within this call.
    void manager.stop(timeToStopMs(context, term));
    void publishDeadline(context, term);
    void gates.close();
  };
  const offRenewed = options.election.on("renewed", () => {
    void publishDeadline(context, term);
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

function whyOf(end: ChildEnd): string {
  return "why" in end ? end.why : "the term ended";
}
