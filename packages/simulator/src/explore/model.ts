/**
 * A small world in which every interleaving can be searched: a few candidates that run the real state machine of core, one lock
 * on a faithful server, and a network that delays, reorders and loses. Time is discrete. A state is a plain value; `actionsOf`
 * lists what may happen next, and `apply` does it.
 *
 * Time passes when everything that is due has happened, except for a limited number of delays. Within one tick, every order is
 * searched.
 */
import type { Instant } from "@tenure/base";
import {
  type Config,
  type Effect,
  type Event,
  initialState,
  isBefore,
  type LeaderRecord,
  type LockView,
  nextWakeMs,
  step,
  validUntil,
} from "@tenure/core";
import {
  type Action,
  type Answer,
  clockStepMs,
  configs,
  epochMs,
  type FaultKind,
  mostWrites,
  noFaults,
  OutOfScope,
  type Process,
  type Request,
  random,
  type Scope,
  tickMs,
  Violation,
  type World,
} from "./world.ts";

export function initialWorld(scope: Scope): World {
  const empty: Process = {
    state: initialState,
    requests: [],
    answers: [],
    watchEvents: [],
    works: false,
    isStopping: false,
    wallAheadMs: 0,
    frozenUntilMs: 0,
  };
  const world: World = {
    nowMs: 0,
    processes: Array.from({ length: scope.candidates }, () => empty),
    lock: undefined,
    revision: 1,
    uids: 0,
    used: noFaults,
    lastToken: 0,
    unaware: [],
    delays: 0,
  };
  return world.processes.reduce((started, _, index) => start(started, index), world);
}

function start(world: World, index: number): World {
  return dispatch(dispatch(world, index, { type: "start" }), index, { type: "watch-up" });
}

/** Everything that may happen next. */
export function actionsOf(world: World, scope: Scope): Action[] {
  const actions: Action[] = [];
  const add = (name: string, apply: (world: World) => World) => actions.push({ name, apply });
  const fault = (kind: FaultKind, name: string, apply: (world: World) => World) => {
    if (world.used[kind] >= scope.faults[kind]) return;
    add(name, (before) => apply({ ...before, used: { ...before.used, [kind]: before.used[kind] + 1 } }));
  };
  const addWrite = (index: number, name: string, request: Request) => {
    const { record } = request;
    if (!record) return;
    add(`the server gets a write of ${name}`, (w) => serve(w, index, request, record));
    fault("lose", `a write of ${name} is lost`, (w) => withoutRequest(w, index, request));
  };
  for (const [index, process] of world.processes.entries()) {
    const name = configs[index]?.identity as string;
    if (isFrozen(world, process)) {
      for (const request of process.requests) addWrite(index, name, request);
      continue;
    }
    if (isDue(world, index)) add(`${name} runs its timers`, (w) => dispatch(w, index, { type: "tick" }));
    for (const request of process.requests) {
      if (!request.record) add(`${name} reads the lock`, (w) => readLock(w, index, request));
      else addWrite(index, name, request);
    }
    for (const answer of process.answers) {
      add(`${name} gets the answer to a write`, (w) => deliverAnswer(w, index, answer));
      fault("lose", `the answer to a write of ${name} is lost`, (w) => withoutAnswer(w, index, answer));
    }
    const [watchEvent] = process.watchEvents;
    if (watchEvent) {
      add(`${name} sees a change`, (w) => dispatch(withoutWatchEvent(w, index), index, watchEvent));
      fault("lose", `a change is not seen by ${name}`, (w) => withoutWatchEvent(w, index));
    }
    if (process.works && process.isStopping) {
      add(`the work of ${name} stops`, (w) => stopWork(w, index));
    }
    fault("crash", `${name} crashes and restarts`, (w) => restart(w, index));
    fault("freeze", `${name} is frozen for half a lease`, (w) =>
      update(w, index, { frozenUntilMs: w.nowMs + tickMs }),
    );
    if (process.works) {
      fault("step-down", `${name} steps down`, (w) =>
        dispatch(w, index, { type: "step-down", cooldownMs: tickMs }),
      );
    }
    if (!process.state.stopping) {
      fault("stop", `${name} is asked to stop`, (w) => dispatch(w, index, { type: "stop" }));
    }
    fault("clock-step", `the wall clock of ${name} jumps forward`, (w) =>
      update(w, index, { wallAheadMs: process.wallAheadMs + clockStepMs }),
    );
  }
  if (world.lock) {
    fault("pause", "an operator pauses the election", (w) =>
      store(w, (w.lock as LockView).record, { paused: true }),
    );
    fault("delete", "somebody deletes the lock", deleteLock);
    fault("annotate", "somebody annotates the lock", (w) => store(w, (w.lock as LockView).record));
    fault("empty", "somebody empties the holder by hand", (w) =>
      store(w, { ...(w.lock as LockView).record, holderIdentity: "" }),
    );
  }
  const delays = world.delays + pendingIn(world);
  if (delays <= scope.delays) {
    add("time passes", (w) => checked({ ...w, nowMs: w.nowMs + tickMs, delays }));
  }
  return actions;
}

/** How many things are put off if time passes now. */
function pendingIn(world: World): number {
  return world.processes.reduce((sum, process, index) => {
    const { requests, answers, watchEvents } = process;
    if (isFrozen(world, process)) return sum + requests.filter(({ record }) => record !== undefined).length;
    return sum + requests.length + answers.length + watchEvents.length + (isDue(world, index) ? 1 : 0);
  }, 0);
}

function isFrozen(world: World, process: Process): boolean {
  return world.nowMs < process.frozenUntilMs;
}

function instantOf(world: World, index: number): Instant {
  const ahead = world.processes[index]?.wallAheadMs ?? 0;
  // The wall clock starts apart from the monotonic one, as on a real machine.
  return { monoMs: world.nowMs, wallMs: epochMs + world.nowMs + ahead };
}

function isDue(world: World, index: number): boolean {
  const { state } = world.processes[index] as Process;
  return nextWakeMs(configs[index] as Config, state, instantOf(world, index)) <= world.nowMs;
}

function update(world: World, index: number, change: Partial<Process>): World {
  return {
    ...world,
    processes: world.processes.map((old, i) => (i === index ? { ...old, ...change } : old)),
  };
}

/** Gives the event to the state machine and performs its effects. */
function dispatch(world: World, index: number, event: Event): World {
  const process = world.processes[index] as Process;
  const config = configs[index] as Config;
  const at = instantOf(world, index);
  const { state, effects } = step(config, process.state, event, at, random);
  const isSameTerm = process.works && effects.every(({ type }) => type !== "term-started");
  const wasOver = !isBefore(at, validUntil(config, process.state));
  if (isSameTerm && wasOver && isBefore(at, validUntil(config, state))) {
    throw new Violation(`G1: the term of ${config.identity} had run out and goes on`);
  }
  return checked(
    effects.reduce((next, effect) => perform(next, index, effect), update(world, index, { state })),
  );
}

function perform(world: World, index: number, effect: Effect): World {
  switch (effect.type) {
    case "read":
      return send(world, index, { id: effect.id, over: undefined, record: undefined });
    case "write":
      return send(world, index, { id: effect.id, over: effect.over, record: effect.record });
    case "term-started": {
      const token = Number(effect.token);
      if (token <= world.lastToken) {
        throw new Violation(`G2: a term starts with token ${token} after token ${world.lastToken}`);
      }
      return { ...update(world, index, { works: true, isStopping: false }), lastToken: token };
    }
    case "term-ending":
    case "term-lost":
      return update(world, index, { isStopping: true });
    // The library kills a process whose work still runs at the hard deadline.
    case "overrun":
      return restart(world, index);
    case "refused":
      throw new Violation(`G4: a candidate gives up: ${effect.message}`);
    default:
      return world;
  }
}

/** A read and its answer are one action: stale views reach a candidate through its watch. */
function readLock(world: World, index: number, request: Request): World {
  const { lock } = world;
  const answer = lock ? ({ kind: "found", view: lock } as const) : ({ kind: "absent" } as const);
  return dispatch(withoutRequest(world, index, request), index, { type: "answer", id: request.id, answer });
}

function serve(world: World, index: number, request: Request, record: LeaderRecord): World {
  const { lock } = world;
  const { over } = request;
  if (over ? over.version !== lock?.version : lock) {
    return answer(world, index, request, over && !lock ? { kind: "absent" } : { kind: "conflict" });
  }
  if (!lock && world.unaware.includes(index)) throw new OutOfScope();
  const holder = configs[index]?.identity;
  if (record.holderIdentity === "" && lock?.record.holderIdentity !== holder) {
    throw new Violation(`G3: ${holder} releases the lock of ${lock?.record.holderIdentity}`);
  }
  if (lock?.orders?.paused && record.holderIdentity !== "" && lock.record.holderIdentity !== holder) {
    throw new Violation(`G3: ${holder} acquires the lock while the election is paused`);
  }
  const written = store(world, record);
  return answer(written, index, request, { kind: "found", view: written.lock as LockView });
}

/** A read that was given up has no effect. A write that was given up may still be committed; the oldest one is lost. */
function send(world: World, index: number, request: Request): World {
  const { requests } = world.processes[index] as Process;
  const writes = requests.filter(({ record }) => record !== undefined).slice(-(mostWrites - 1));
  return update(world, index, { requests: [...writes, request] });
}

function answer(world: World, index: number, request: Request, content: Answer["answer"]): World {
  const process = world.processes[index] as Process;
  return update(world, index, {
    requests: process.requests.filter((other) => other !== request),
    answers: [...process.answers, { id: request.id, answer: content }],
  });
}

/** Stores the record and tells the watches. Orders stay until an operator removes them. */
function store(world: World, record: LeaderRecord, orders = world.lock?.orders): World {
  const revision = world.revision + 1;
  const uids = world.lock ? world.uids : world.uids + 1;
  const lock: LockView = {
    uid: `uid-${uids}`,
    version: `${revision}`,
    revision: BigInt(revision),
    record,
    ...(orders && { orders }),
  };
  return notify({ ...world, revision, uids, lock }, { type: "observed", view: lock });
}

function deleteLock(world: World): World {
  const revision = world.revision + 1;
  const unaware = world.processes.flatMap(({ state: { lock } }, index) =>
    lock.kind === "present" && lock.view.uid === world.lock?.uid ? [] : [index],
  );
  return notify(
    { ...world, revision, lock: undefined, unaware },
    { type: "deleted", revision: BigInt(revision) },
  );
}

/** A watch may skip versions: a candidate that has not seen one change yet may see only the next. */
function notify(world: World, event: Event): World {
  return { ...world, processes: world.processes.map((process) => ({ ...process, watchEvents: [event] })) };
}

function deliverAnswer(world: World, index: number, { id, answer: content }: Answer): World {
  const found = (world.processes[index] as Process).answers.find((other) => other.id === id);
  const next = found ? withoutAnswer(world, index, found) : world;
  return dispatch(next, index, { type: "answer", id, answer: content });
}

function withoutRequest(world: World, index: number, request: Request): World {
  const { requests } = world.processes[index] as Process;
  return update(world, index, { requests: requests.filter((other) => other !== request) });
}

function withoutAnswer(world: World, index: number, lost: Answer): World {
  const { answers } = world.processes[index] as Process;
  return update(world, index, { answers: answers.filter((other) => other !== lost) });
}

function withoutWatchEvent(world: World, index: number): World {
  return update(world, index, { watchEvents: (world.processes[index] as Process).watchEvents.slice(1) });
}

function stopWork(world: World, index: number): World {
  const stopped = update(world, index, { works: false, isStopping: false });
  return dispatch(stopped, index, { type: "work-stopped", cooldownMs: tickMs });
}

/** The process is gone, but its requests are still on their way to the server. */
function restart(world: World, index: number): World {
  const { requests, wallAheadMs } = world.processes[index] as Process;
  const fresh: Process = {
    state: initialState,
    requests: requests.filter(({ record }) => record !== undefined),
    answers: [],
    watchEvents: [],
    works: false,
    isStopping: false,
    wallAheadMs,
    frozenUntilMs: 0,
  };
  return start(update(world, index, fresh), index);
}

/** G1: no two candidates may work at this moment. */
function checked(world: World): World {
  const working = world.processes.flatMap(({ state, works }, index) =>
    works && isBefore(instantOf(world, index), validUntil(configs[index] as Config, state))
      ? [configs[index]?.identity as string]
      : [],
  );
  if (working.length > 1) throw new Violation(`G1: ${working.join(" and ")} work at the same time`);
  return world;
}
