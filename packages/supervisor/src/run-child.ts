/**
 * Runs one child within a term: starts it, waits until it is ready, monitors it and stops it. Resolves with the reason of its
 * end when the child and its descendants have exited.
 */
import { first, messageOf } from "@tenure/base";
import { runCheck } from "./check/run.ts";
import type { ChildEnd } from "./child-end.ts";
import { readCompletion } from "./completion.ts";
import type { SupervisedTerm } from "./election-seam.ts";
import { SupervisorError } from "./errors.ts";
import type { ChildExit } from "./events.ts";
import { HealthMonitor } from "./health/monitor.ts";
import type { StartedChild } from "./process/manager.ts";
import { exitCodeOfSpawnFailure, type Program } from "./process/spawn.ts";
import { prepareReady, type ReadyWait } from "./ready/wait.ts";
import type { ResolvedHealth } from "./resolve-options.ts";
import type { RunContext } from "./run-context.ts";
import { publishDeadline, timeToStopMs } from "./term-deadline.ts";

interface ChildHooks {
  readonly onStarted: (pid: number) => void;
  readonly onReady: () => void;
  readonly onMonitor: (monitor: HealthMonitor | undefined) => void;
}

/** How long one readiness check may take if there is no health check whose timeout applies. */
const readyCheckTimeoutMs = 1_000;

export async function runChild(
  context: RunContext,
  term: SupervisedTerm,
  hooks: ChildHooks,
): Promise<ChildEnd> {
  const { manager, gates } = context;
  const ended = new AbortController();
  try {
    return await startAndLead(context, term, hooks, ended.signal);
  } finally {
    ended.abort();
    await manager.stop(timeToStopMs(context, term));
    // Not awaited: a gate that closes slowly delays the release, but not a restart.
    void gates.close();
  }
}

async function startAndLead(
  context: RunContext,
  term: SupervisedTerm,
  hooks: ChildHooks,
  ended: AbortSignal,
): Promise<ChildEnd> {
  const { manager, options, clock, watchdog } = context;
  if (options.completion) {
    const isDone = await readCompletion(context, term, options.completion);
    if (isDone !== false) return { type: isDone ? "completed" : "term-ended" };
  }
  // No child runs without a watchdog that would kill it.
  const guarded = await first(clock, { ready: watchdog.ready(), ended: term.signal });
  if (guarded === "ready" && !watchdog.isReady) {
    return { type: "unguarded", why: "there is no watchdog" };
  }
  const program = context.programFor(term);
  const begin = await prepareReady(options.ready, {
    clock,
    context: { env: program.env, cwd: program.cwd },
    checkTimeoutMs: options.health?.timeoutMs ?? readyCheckTimeoutMs,
  });
  const written = publishDeadline(context, term);
  const published = Promise.all([watchdog.acknowledged(), written]);
  await first(clock, { published, ended: term.signal });
  const isTermOver = () => term.signal.aborted || !term.isValid();
  if (isTermOver()) return { type: "term-ended" };
  const [isAcknowledged] = await published;
  if (!isAcknowledged) return { type: "unguarded", why: "the watchdog does not answer" };

  const startedMs = clock.now().monoMs;
  const starting = start(context, program);
  // This process may have been frozen since the last check. If the term ran out meanwhile, the child must not run.
  if (!term.isValid()) void manager.stop(0);
  const child = await starting;
  if ("type" in child) return isTermOver() ? { type: "term-ended" } : child;
  hooks.onStarted(child.pid);

  const notReady = await becomeReady(context, term, child, begin(child.process, ended));
  if (notReady) return notReady;
  context.onChild({ type: "ready", pid: child.pid, tookMs: clock.now().monoMs - startedMs });
  hooks.onReady();
  return lead(context, term, hooks, program, child, unreachable(context, term));
}

/** Opens the gates while the child works. Resolves with the reason if one cannot open; otherwise it never settles. */
function unreachable({ gates, onError }: RunContext, term: SupervisedTerm): Promise<string> {
  return new Promise((resolve) => {
    gates.open(term).catch((error: Error) => {
      onError(error);
      resolve(error.message);
    });
  });
}

/** Starts the child, and sends its process group to the watchdog before anything is awaited. */
async function start({ manager, watchdog }: RunContext, program: Program): Promise<StartedChild | ChildEnd> {
  try {
    const starting = manager.start(program);
    if (manager.pid !== undefined) watchdog.addGroup(manager.pid);
    return await starting;
  } catch (error) {
    const exitCode = error instanceof SupervisorError ? exitCodeOfSpawnFailure(error) : 126;
    return { type: "not-spawned", why: messageOf(error), exitCode };
  }
}

/** Resolves with undefined when the child is ready. */
async function becomeReady(
  context: RunContext,
  term: SupervisedTerm,
  { exited }: StartedChild,
  wait: ReadyWait,
): Promise<ChildEnd | undefined> {
  const { clock, options } = context;
  const what = await first(clock, {
    ended: term.signal,
    unguarded: context.unguarded(),
    ready: wait.ready,
    exited,
    late: options.startTimeoutMs,
  });
  switch (what) {
    case "ready":
      return undefined;
    case "ended":
      return { type: "term-ended" };
    case "unguarded":
      return { type: "unguarded", why: "the watchdog ended" };
    case "exited":
      return endOfExit(context, term, await exited, false);
    case "late":
      return {
        type: "not-ready",
        why: `the child was not ready within ${options.startTimeoutMs} ms: ${wait.missing()}`,
      };
  }
}

async function lead(
  context: RunContext,
  term: SupervisedTerm,
  hooks: ChildHooks,
  program: Program,
  child: StartedChild,
  gateFailure: Promise<string>,
): Promise<ChildEnd> {
  const { clock, options } = context;
  let failure = "";
  let onUnhealthy = () => {};
  const unhealthy = new Promise<void>((resolve) => {
    onUnhealthy = resolve;
  });
  const newMonitor = ({ check, ...health }: ResolvedHealth) =>
    new HealthMonitor({
      ...health,
      clock,
      check: (signal) => runCheck(check, { env: program.env, cwd: program.cwd }, signal),
      onHealth: context.onHealth,
      onUnhealthy: (message) => {
        failure = message;
        onUnhealthy();
      },
    });
  const monitor = options.health && newMonitor(options.health);
  hooks.onMonitor(monitor);
  monitor?.start();
  const what = await first(clock, {
    ended: term.signal,
    unguarded: context.unguarded(),
    exited: child.exited,
    unhealthy,
    unreachable: gateFailure,
  });
  monitor?.stop();
  switch (what) {
    case "ended":
      return { type: "term-ended" };
    case "unguarded":
      return { type: "unguarded", why: "the watchdog ended" };
    case "exited":
      return endOfExit(context, term, await child.exited, true);
    case "unreachable":
      return { type: "unreachable", why: await gateFailure };
    case "unhealthy":
      return { type: "unhealthy", why: `the child is unhealthy: ${failure}` };
  }
}

function endOfExit(context: RunContext, term: SupervisedTerm, exit: ChildExit, wasReady: boolean): ChildEnd {
  // The watchdog killed the child while this process was frozen: the child did not exit by itself.
  const byWatchdog = exit.signal === "SIGKILL" && term.remainingMs() <= context.options.killMarginMs;
  if (byWatchdog) return { type: "term-ended" };
  const how = exit.signal === undefined ? `exited with code ${exit.code}` : `was killed by ${exit.signal}`;
  const when = wasReady ? "" : " before it was ready";
  return { type: "exited", why: `the child ${how}${when}`, exit, wasReady };
}
