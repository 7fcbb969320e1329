/**
 * One child within a term: started, waited for until it is ready, watched, stopped. Resolves with why it ended, when nothing
 * is left of it (B4, B5).
 */

import { first } from "@tenure/base";
import type { StintEnd } from "./after.ts";
import { ask } from "./check/run.ts";
import { type Crew, tellDeadline, timeToStopMs } from "./crew.ts";
import { inWords, SupervisorError } from "./errors.ts";
import type { ChildExit } from "./events.ts";
import { HealthMonitor } from "./health/monitor.ts";
import type { TermLike } from "./office.ts";
import type { StartedChild } from "./process/manager.ts";
import { exitCodeOfSpawnFailure, type Program } from "./process/spawn.ts";
import { prepareReady, type ReadyWait } from "./ready/wait.ts";

export interface StintHooks {
  readonly onStarted: (pid: number) => void;
  readonly onReady: () => void;
  readonly onMonitor: (monitor: HealthMonitor | undefined) => void;
}

/** How long one question to a child that is starting may take, where no health check says it. */
const readyCheckTimeoutMs = 1_000;

export async function runStint(crew: Crew, term: TermLike, hooks: StintHooks): Promise<StintEnd> {
  const { manager, gates } = crew;
  const over = new AbortController();
  try {
    return await live(crew, term, hooks, over.signal);
  } finally {
    over.abort();
    await manager.stop(timeToStopMs(crew, term));
    // Not waited for here: a gate that is slow to close does not put off a restart, only the release.
    void gates.close();
  }
}

async function live(crew: Crew, term: TermLike, hooks: StintHooks, over: AbortSignal): Promise<StintEnd> {
  const { manager, options, clock, watchdog } = crew;
  const isOver = () => term.signal.aborted || !term.isValid();
  // Nobody starts a child that nobody would kill.
  const guarded = first(clock, { ready: watchdog.ready(), ended: term.signal });
  if ((await guarded) === "ready" && !watchdog.isReady) {
    return { type: "unguarded", why: "there is no watchdog" };
  }
  const program = crew.programFor(term);
  const context = { env: program.env, cwd: program.cwd };
  const checkTimeoutMs = options.health?.timeoutMs ?? readyCheckTimeoutMs;
  const begin = await prepareReady(options.ready, { clock, context, checkTimeoutMs });
  const written = tellDeadline(crew, term);
  const told = Promise.all([watchdog.heard(), written]);
  await first(clock, { told, ended: term.signal });
  if (isOver()) return { type: "term-ended" };
  const [isHeard] = await told;
  if (!isHeard) return { type: "unguarded", why: "the watchdog does not answer" };

  const startedMs = clock.now().monoMs;
  const starting = start(crew, program);
  // This process may have been frozen since the question: the child that was started must not be.
  if (!term.isValid()) void manager.stop(0);
  const child = await starting;
  if ("type" in child) return isOver() ? { type: "term-ended" } : child;
  hooks.onStarted(child.pid);

  const notReady = await becomeReady(crew, term, child, begin(child.process, over));
  if (notReady) return notReady;
  crew.onChild({ type: "ready", pid: child.pid, tookMs: clock.now().monoMs - startedMs });
  hooks.onReady();
  return lead(crew, term, hooks, program, child, crew.gates.open(term));
}

/** The child, or why there is none. The watchdog knows its group before anybody waits for anything. */
async function start({ manager, watchdog }: Crew, program: Program): Promise<StartedChild | StintEnd> {
  try {
    const starting = manager.start(program);
    if (manager.pid !== undefined) watchdog.addGroup(manager.pid);
    return await starting;
  } catch (error) {
    const exitCode = error instanceof SupervisorError ? exitCodeOfSpawnFailure(error) : 126;
    return { type: "not-spawned", why: inWords(error), exitCode };
  }
}

async function becomeReady(
  crew: Crew,
  term: TermLike,
  { exited }: StartedChild,
  wait: ReadyWait,
): Promise<StintEnd | undefined> {
  const { clock, options } = crew;
  const what = await first(clock, {
    ended: term.signal,
    unguarded: crew.unguarded(),
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
      return { type: "unguarded", why: "the watchdog is gone" };
    case "exited":
      return exitOf(crew, term, await exited, false);
    case "late":
      return {
        type: "not-ready",
        why: `the child was not ready within ${options.startTimeoutMs} ms: ${wait.missing()}`,
      };
  }
}

async function lead(
  crew: Crew,
  term: TermLike,
  hooks: StintHooks,
  program: Program,
  child: StartedChild,
  shut: Promise<string>,
): Promise<StintEnd> {
  const { clock, options } = crew;
  let message = "";
  let onUnhealthy = () => {};
  const unhealthy = new Promise<void>((resolve) => {
    onUnhealthy = resolve;
  });
  const monitor =
    options.health &&
    new HealthMonitor({
      ...options.health,
      clock,
      ask: (signal) => ask(options.health?.check ?? never(), { env: program.env, cwd: program.cwd }, signal),
      onHealth: crew.onHealth,
      onUnhealthy: (text) => {
        message = text;
        onUnhealthy();
      },
    });
  hooks.onMonitor(monitor);
  monitor?.start();
  const what = await first(crew.clock, {
    ended: term.signal,
    unguarded: crew.unguarded(),
    exited: child.exited,
    unhealthy,
    shut,
  });
  monitor?.stop();
  switch (what) {
    case "ended":
      return { type: "term-ended" };
    case "unguarded":
      return { type: "unguarded", why: "the watchdog is gone" };
    case "exited":
      return exitOf(crew, term, await child.exited, true);
    case "shut":
      return { type: "unreachable", why: await shut };
    case "unhealthy":
      return { type: "unhealthy", why: `the child is unhealthy: ${message}` };
  }
}

function exitOf(crew: Crew, term: TermLike, exit: ChildExit, wasReady: boolean): StintEnd {
  // Killed by the watchdog while this process stood still: no exit of its own.
  const isOurs = exit.signal === "SIGKILL" && term.remainingMs() <= crew.options.killMarginMs;
  if (isOurs) return { type: "term-ended" };
  const how = exit.signal === undefined ? `exit code ${exit.code}` : `signal ${exit.signal}`;
  const when = wasReady ? "" : " before it was ready";
  return { type: "exited", why: `the child ended with ${how}${when}`, exit, wasReady };
}

function never(): never {
  throw new SupervisorError("CheckFailed", "there is no check");
}
