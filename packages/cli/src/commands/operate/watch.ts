/** `tenure watch [NAME]`: every change as it happens. In a pipe one line per change, on a terminal a live view. */
import { after, type Problem, parseDuration } from "@tenure/base";
import { durationProblems, type OperateFlags, type Session } from "../../cluster/session.ts";
import { describeChange, titleOf } from "../../display/descriptions.ts";
import { withoutControls } from "../../display/paint.ts";
import { Picture } from "../../display/picture.ts";
import { seconds } from "../../display/state-data.ts";
import { findElection, listLocks, readLocks } from "../../elections/find.ts";
import { follow } from "../../elections/follow.ts";
import { type Change, History } from "../../elections/history.ts";
import type { LockKind } from "../../elections/lock-object.ts";
import { isElection } from "../../elections/other-leases.ts";
import { addressFor, Observer } from "../../observe/observer.ts";
import { RecordingFile } from "../../observe/recording-file.ts";
import { parseReplica, type ReplicaAddress, replicaProblems } from "../../replicas/replicas-option.ts";
import { exclusive } from "../../settings/problems.ts";
import { firstSignal } from "../../signals.ts";
import { drawLive, type ReportedChange, type Watched } from "./live-view.ts";

export interface WatchFlags extends OperateFlags {
  allNamespaces?: boolean;
  /** A duration. */
  window: string;
  /** The file for a recording. */
  record?: string;
  replica?: string[];
}

export function watchProblems(name: string | undefined, flags: WatchFlags): Problem[] {
  return [
    ...durationProblems("window", flags.window),
    ...replicaProblems(flags.replica, name),
    ...(flags.replica !== undefined && flags.record === undefined
      ? [{ field: "replica", rule: "needs {record}", fix: "add --record FILE, or leave it out" }]
      : []),
    ...(name !== undefined && flags.allNamespaces
      ? [{ ...exclusive("NAME", "allNamespaces"), fix: "choose one namespace with -n" }]
      : []),
  ];
}

/** How often the live view is drawn when nothing happens, because ages grow. */
const redrawMs = 1_000;
const mostRecent = 50;

export async function watch(name: string | undefined, session: Session<WatchFlags>): Promise<number> {
  const { flags, platform } = session;
  const size = platform.terminal;
  const namespace = flags.allNamespaces ? undefined : session.namespace;
  const stop = new AbortController();
  const ended = AbortSignal.any([stop.signal, firstSignal(platform).signal]);
  // One request before the watch: the watch would retry forever, but a failure here is reported at once.
  const kind = await kindOf(name, namespace, session);
  const isLive = platform.isTerminal && flags.output === undefined;
  const view = isLive ? liveView(session, name, namespace) : lineView(session, () => stop.abort());
  const recording = record(name, session, ended, () => stop.abort());
  const elections = new Map<string, Watched>();
  const watchedFor = (of: { namespace: string; name: string }): Watched => {
    const key = titleOf(of);
    const watched = elections.get(key) ?? { namespace: of.namespace, name: of.name, history: new History() };
    elections.set(key, watched);
    return watched;
  };
  const report = (watched: Watched, changes: readonly Change[]) => {
    for (const change of changes) {
      const now = platform.clock.now();
      const wallMs = now.wallMs - (now.monoMs - change.atMs);
      view.report({ wallMs, title: titleOf(watched), change }, watched);
    }
  };
  let cancelTimer = () => {};
  /** The watch does not report that a lease expires, so a timer does. */
  const tick = () => {
    cancelTimer();
    const nowMs = session.monotonicMs();
    for (const watched of elections.values()) report(watched, watched.history.tick(nowMs));
    view.draw([...elections.values()]);
    const next = Math.min(
      ...[...elections.values()].map(({ history }) => history.expiresAtMs ?? Number.POSITIVE_INFINITY),
      isLive ? nowMs + redrawMs : Number.POSITIVE_INFINITY,
    );
    if (Number.isFinite(next) && !ended.aborted)
      cancelTimer = after(platform.clock, Math.max(1, next - nowMs), tick);
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
      signal: ended,
      onState(state) {
        if (name === undefined && !isElection(state, { withHeartbeats: namespace === state.namespace }))
          return;
        recording?.observer.state(state);
        const watched = watchedFor(state);
        watched.state = state;
        report(watched, watched.history.observe(state, session.monotonicMs()));
        tick();
      },
      onDeleted(of, named) {
        recording?.observer.deleted(of, named);
        const watched = watchedFor({ namespace: of, name: named });
        delete watched.state;
        report(watched, watched.history.deleted(session.monotonicMs()));
        tick();
      },
      onUp() {
        recording?.observer.watch(undefined);
        view.connection(undefined);
      },
      onDown(error) {
        recording?.observer.watch(error.message);
        view.connection(error.message);
      },
    });
  } finally {
    cancelTimer();
    endResize();
    await view.end();
    recording?.end();
  }
  return 0;
}

/** Records everything in the file of --record, with the reports of the replicas. */
function record(
  name: string | undefined,
  { flags, namespace, platform }: Session<WatchFlags>,
  ended: AbortSignal,
  onFailure: () => void,
) {
  if (flags.record === undefined) return undefined;
  const source = [
    "tenure watch",
    ...(name ? [name] : []),
    ...(flags.allNamespaces ? ["-A"] : [`-n ${namespace}`]),
  ];
  const file = new RecordingFile(flags.record, platform.clock.now().wallMs, source.join(" "));
  let failure: unknown;
  const observer = new Observer(platform.clock, (seen) => {
    try {
      if (failure === undefined) file.add(seen);
    } catch (error) {
      // A recording with a hole would show a gap in leadership that there was not.
      failure = error;
      onFailure();
    }
  });
  for (const text of flags.replica ?? []) {
    const address = addressFor(parseReplica(text) as ReplicaAddress, namespace, name);
    void observer.replica(address, ended);
  }
  return {
    observer,
    end() {
      if (failure !== undefined) throw failure;
      file.close(observer.nowMs());
    },
  };
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
  const [states, denials] = await readLocks(session, namespace, name, lock ? [lock] : undefined);
  if (states[0]) return states[0].kind;
  // Without rights there is nothing to wait for. An election that does not exist yet is worth waiting for.
  if (denials[0]?.kind === (lock ?? "lease")) await findElection(session, namespace, name, [lock ?? "lease"]);
  session.platform.err(`There is no election "${name}" in namespace "${namespace}" yet. Waiting for it.\n`);
  return lock ?? "lease";
}

interface View {
  report(reported: ReportedChange, watched: Watched): void;
  draw(elections: readonly Watched[]): void;
  resized(): void;
  /** @param trouble why the connection failed; undefined if it works */
  connection(trouble: string | undefined): void;
  end(): Promise<void>;
}

/** @param onClosed called when the reader of the pipe is gone */
function lineView({ flags, platform }: Session<WatchFlags>, onClosed: () => void): View {
  const encoder = new TextEncoder();
  let written: Promise<unknown> = Promise.resolve();
  let isDown = false;
  const print = (line: string) => {
    written = written
      .then(async () => {
        let rest = encoder.encode(`${line}\n`);
        while (rest.length > 0) rest = rest.subarray(await platform.write(1, rest));
      })
      .catch(onClosed);
  };
  return {
    report: (reported, watched) =>
      print(flags.output === "json" ? JSON.stringify(lineData(reported, watched)) : lineText(reported)),
    draw() {},
    resized() {},
    connection(trouble) {
      if (trouble !== undefined) platform.err(`${trouble} Trying again.\n`);
      else if (isDown) platform.err("Reconnected.\n");
      isDown = trouble !== undefined;
    },
    end: async () => void (await written),
  };
}

function lineText({ wallMs, title, change }: ReportedChange): string {
  return `${new Date(wallMs).toISOString()}  ${title}  ${withoutControls(describeChange(change))}`;
}

function lineData({ wallMs, change }: ReportedChange, { namespace, name, history }: Watched): object {
  return {
    time: new Date(wallMs).toISOString(),
    namespace,
    name,
    change: change.kind,
    leader: change.kind === "leads" ? change.leader : (history.leader ?? null),
    ...(change.kind === "transfer" || change.kind === "transfer-accepted"
      ? { to: change.other }
      : { previous: change.other }),
    transitions: change.transitions ?? history.last?.record.leaseTransitions,
    heldSeconds: seconds(change.heldMs),
    gapSeconds: seconds(change.gapMs),
  };
}

function liveView(
  session: Session<WatchFlags>,
  name: string | undefined,
  namespace: string | undefined,
): View {
  const { terminal, clock, out } = session.platform;
  const picture = new Picture(out, terminal);
  const colours = new Map<string, number>();
  const recent: ReportedChange[] = [];
  const windowMs = parseDuration(session.flags.window) as number;
  let trouble: string | undefined;
  return {
    report(reported) {
      recent.push(reported);
      if (recent.length > mostRecent) recent.shift();
    },
    draw(elections) {
      picture.draw(
        drawLive({
          elections,
          recent,
          trouble,
          scope: name ?? (namespace === undefined ? "all namespaces" : `namespace ${namespace}`),
          nowMs: clock.now().monoMs,
          wallMs: clock.now().wallMs,
          windowMs,
          columns: terminal.columns(),
          rows: terminal.rows(),
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
