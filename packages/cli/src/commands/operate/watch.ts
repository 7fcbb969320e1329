/** `tenure watch [NAME]`: every change of hands as it happens. In a pipe one line a change; on a terminal a picture. */
import { parseDuration } from "@tenure/base";
import { findElection, listLocks, readLocks } from "../../elections/find.ts";
import { follow } from "../../elections/follow.ts";
import { type Change, describeChange, History } from "../../elections/history.ts";
import type { LockKind } from "../../elections/lock-object.ts";
import { harmless } from "../../elections/paint.ts";
import { durationProblems, type OperateFlags, type Session } from "../../elections/session.ts";
import type { ElectionState } from "../../elections/state.ts";
import { isElection } from "./list.ts";
import { drawLive } from "./live-view.ts";
import { Picture, type TerminalSize } from "./terminal.ts";

export interface WatchFlags extends OperateFlags {
  allNamespaces?: boolean;
  /** A duration. */
  window: string;
}

export function watchProblems(name: string | undefined, flags: WatchFlags): string[] {
  return [
    ...durationProblems("--window", flags.window),
    ...(name !== undefined && flags.allNamespaces
      ? ["NAME and -A exclude each other: say one namespace with -n"]
      : []),
  ];
}

export interface Watched {
  readonly namespace: string;
  readonly name: string;
  readonly history: History;
  state?: ElectionState;
}

export interface Told {
  readonly wallMs: number;
  readonly title: string;
  readonly change: Change;
}

/** So often is a picture drawn when nothing happens: ages count on. */
const redrawMs = 1_000;
const mostTold = 50;

export async function watch(
  name: string | undefined,
  session: Session<WatchFlags>,
  size: TerminalSize,
): Promise<number> {
  const { flags, platform } = session;
  const namespace = flags.allNamespaces ? undefined : session.namespace;
  const stop = new AbortController();
  void platform.stopSignal().then(() => stop.abort());
  // Asked once before: what is wrong with the connection or the rights is told at once, and not retried for ever.
  const kind = await kindOf(name, namespace, session);
  const isLive = platform.isTerminal && flags.output === undefined;
  const view = isLive ? liveView(session, name, namespace, size) : lineView(session, () => stop.abort());
  const elections = new Map<string, Watched>();
  const at = (of: { namespace: string; name: string }): Watched => {
    const key = `${of.namespace}/${of.name}`;
    const watched = elections.get(key) ?? { namespace: of.namespace, name: of.name, history: new History() };
    elections.set(key, watched);
    return watched;
  };
  const tell = (watched: Watched, changes: readonly Change[]) => {
    for (const change of changes) {
      const wallMs = platform.wallMs() - (session.monotonicMs() - change.atMs);
      view.told({ wallMs, title: `${watched.namespace}/${watched.name}`, change }, watched);
    }
  };
  let cancelTimer = () => {};
  /** An expiry is no event of the watch: it has to be waited for. */
  const tick = () => {
    cancelTimer();
    const nowMs = session.monotonicMs();
    for (const watched of elections.values()) tell(watched, watched.history.tick(nowMs));
    view.draw([...elections.values()]);
    const next = Math.min(
      ...[...elections.values()].map(({ history }) => history.expiresAtMs ?? Number.POSITIVE_INFINITY),
      isLive ? nowMs + redrawMs : Number.POSITIVE_INFINITY,
    );
    if (Number.isFinite(next) && !stop.signal.aborted)
      cancelTimer = platform.after(Math.max(1, next - nowMs), tick);
  };
  const endResize = size.onResize(() => {
    view.resized();
    tick();
  });
  try {
    tick();
    await follow(session, {
      kind,
      namespace,
      name,
      signal: stop.signal,
      onState(state) {
        if (name === undefined && !isElection(state, namespace === state.namespace)) return;
        const watched = at(state);
        watched.state = state;
        tell(watched, watched.history.observe(state, session.monotonicMs()));
        tick();
      },
      onDeleted(of, named) {
        const watched = at({ namespace: of, name: named });
        delete watched.state;
        tell(watched, watched.history.deleted(session.monotonicMs()));
        tick();
      },
      onUp: () => view.connection(undefined),
      onDown: (error) => view.connection(error.message),
    });
  } finally {
    cancelTimer();
    endResize();
    await view.end();
  }
  return 0;
}

async function kindOf(
  name: string | undefined,
  namespace: string | undefined,
  session: Session<WatchFlags>,
): Promise<LockKind> {
  const { lock } = session.flags;
  if (name === undefined || namespace === undefined) {
    await listLocks(session, namespace, lock ?? "lease");
    return lock ?? "lease";
  }
  const [states, refusals] = await readLocks(session, namespace, name, lock ? [lock] : undefined);
  if (states[0]) return states[0].kind;
  // Without rights there is nothing to wait for; that there is none yet may be why somebody watches.
  if (refusals[0]?.kind === (lock ?? "lease"))
    await findElection(session, namespace, name, [lock ?? "lease"]);
  session.platform.err(`There is no election "${name}" in namespace "${namespace}" yet: waiting for it.\n`);
  return lock ?? "lease";
}

interface View {
  told(told: Told, watched: Watched): void;
  draw(elections: readonly Watched[]): void;
  resized(): void;
  /** @param trouble why there is no connection */
  connection(trouble: string | undefined): void;
  end(): Promise<void>;
}

/** @param closed called when nobody reads any more */
function lineView({ flags, platform }: Session<WatchFlags>, closed: () => void): View {
  const encoder = new TextEncoder();
  let written: Promise<unknown> = Promise.resolve();
  let isDown = false;
  const print = (line: string) => {
    written = written
      .then(async () => {
        let rest = encoder.encode(`${line}\n`);
        while (rest.length > 0) rest = rest.subarray(await platform.write(1, rest));
      })
      .catch(closed);
  };
  return {
    told: (told, watched) =>
      print(flags.output === "json" ? JSON.stringify(lineData(told, watched)) : lineText(told)),
    draw() {},
    resized() {},
    connection(trouble) {
      if (trouble !== undefined) platform.err(`${trouble} Trying again.\n`);
      else if (isDown) platform.err("Connected again.\n");
      isDown = trouble !== undefined;
    },
    end: async () => void (await written),
  };
}

function lineText({ wallMs, title, change }: Told): string {
  return `${new Date(wallMs).toISOString()}  ${title}  ${harmless(describeChange(change))}`;
}

function lineData({ wallMs, change }: Told, { namespace, name, history }: Watched): object {
  const seconds = (ms: number | undefined) => (ms === undefined ? undefined : Math.round(ms) / 1_000);
  return {
    time: new Date(wallMs).toISOString(),
    namespace,
    name,
    change: change.kind,
    leader: change.kind === "leads" ? change.leader : (history.leader ?? null),
    ...(change.kind === "transfer" ? { to: change.other } : { previous: change.other }),
    transitions: change.transitions ?? history.last?.record.leaseTransitions,
    heldSeconds: seconds(change.heldMs),
    gapSeconds: seconds(change.gapMs),
  };
}

function liveView(
  session: Session<WatchFlags>,
  name: string | undefined,
  namespace: string | undefined,
  size: TerminalSize,
): View {
  const picture = new Picture((text) => session.platform.out(text), size);
  const colours = new Map<string, number>();
  const recent: Told[] = [];
  const windowMs = parseDuration(session.flags.window) as number;
  let trouble: string | undefined;
  return {
    told(told) {
      recent.push(told);
      if (recent.length > mostTold) recent.shift();
    },
    draw(elections) {
      picture.draw(
        drawLive({
          elections,
          recent,
          trouble,
          scope: name ?? (namespace === undefined ? "all namespaces" : `namespace ${namespace}`),
          nowMs: session.monotonicMs(),
          wallMs: session.platform.wallMs(),
          windowMs,
          columns: size.columns(),
          rows: size.rows(),
          paint: session.paint,
          colourOf(holder) {
            const colour = colours.get(holder) ?? colours.size;
            colours.set(holder, colour);
            return colour;
          },
        }),
      );
    },
    resized: () => picture.forget(),
    connection: (now) => {
      trouble = now;
    },
    end: async () => picture.end(),
  };
}
