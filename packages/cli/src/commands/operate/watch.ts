/** `tenure watch [NAME]`: every change as it happens. In a pipe one line per change, on a terminal a live view. */
import { type Problem, parseDuration } from "@tenure/base";
import { durationProblems, type OperateFlags, type Session } from "../../cluster/session.ts";
import { titleOf } from "../../display/descriptions.ts";
import { lineWriter } from "../../display/line-writer.ts";
import { Picture } from "../../display/picture.ts";
import { findElection, listLocks, readLocks } from "../../elections/find.ts";
import type { Change } from "../../elections/history.ts";
import type { LockKind } from "../../elections/lock-object.ts";
import { type Watched, watchChanges } from "../../elections/watch-changes.ts";
import { addressFor, Observer } from "../../observe/observer.ts";
import { RecordingFile } from "../../observe/recording-file.ts";
import { parseReplica, type ReplicaAddress, replicaProblems } from "../../replicas/replicas-option.ts";
import { exclusive } from "../../settings/problems.ts";
import { firstSignal } from "../../signals.ts";
import { lineData, lineText, wallTimeOf } from "./change-lines.ts";
import { selectorProblems } from "./list.ts";
import { drawLive, type ReportedChange } from "./live-view.ts";
import { initialView, keysIn, pressKey, type Rows } from "./view-keys.ts";

export interface WatchFlags extends OperateFlags {
  allNamespaces?: boolean;
  selector?: string;
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
    ...selectorProblems(flags),
    ...(name !== undefined && flags.allNamespaces
      ? [{ ...exclusive("NAME", "allNamespaces"), fix: "choose one namespace with -n" }]
      : []),
    ...(name !== undefined && flags.selector !== undefined ? [exclusive("NAME", "selector")] : []),
  ];
}

/** How often the live view is drawn when nothing happens, because ages grow. */
const redrawMs = 1_000;
const mostRecent = 50;

export async function watch(name: string | undefined, session: Session<WatchFlags>): Promise<number> {
  const { flags, platform } = session;
  const namespace = flags.allNamespaces ? undefined : session.namespace;
  const stop = new AbortController();
  // One request before the watch: the watch would retry forever, but a failure here is reported at once.
  const kind = await kindOf(name, namespace, session);
  const isLive = platform.isTerminal && flags.output === undefined;
  const quit = () => stop.abort();
  const signal = AbortSignal.any([stop.signal, firstSignal(platform).signal]);
  const view = isLive ? liveView(session, name, namespace, quit) : lineView(session, quit);
  const recording = record(name, session, signal, quit);
  const { ended, tick } = watchChanges(session, {
    kinds: [kind],
    namespace,
    name,
    selector: flags.selector,
    signal,
    clock: platform.clock,
    tickMs: isLive ? redrawMs : undefined,
    onState: (state) => recording?.observer.state(state),
    onDeleted: (of, named) => recording?.observer.deleted(of, named),
    onChange: view.report,
    onTick: view.draw,
    onUp() {
      recording?.observer.watch(undefined);
      view.connection(undefined);
    },
    onDown(error) {
      recording?.observer.watch(error.message);
      view.connection(error.message);
    },
  });
  const endResize = platform.terminal.onResize(() => {
    view.resized();
    tick();
  });
  const endKeys =
    isLive && platform.isInputTerminal ? platform.onKey((keys) => view.press(keys, tick)) : () => {};
  try {
    await ended;
  } finally {
    endKeys();
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
  const { lock, selector } = session.flags;
  if (name === undefined || namespace === undefined) {
    await listLocks(session, namespace, lock ?? "lease", selector);
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
  report(watched: Watched, change: Change): void;
  draw(elections: readonly Watched[]): void;
  resized(): void;
  /** @param keys what the terminal sent @param redraw draws the view again */
  press(keys: string, redraw: () => void): void;
  /** @param trouble why the connection failed; undefined if it works */
  connection(trouble: string | undefined): void;
  end(): Promise<void>;
}

/** @param onClosed called when the reader of the pipe is gone */
function lineView({ flags, platform }: Session<WatchFlags>, onClosed: () => void): View {
  const writer = lineWriter(platform, onClosed);
  let isDown = false;
  return {
    report(watched, change) {
      const { clock } = platform;
      const line =
        flags.output === "json"
          ? JSON.stringify(lineData(watched, change, clock))
          : lineText(watched, change, clock);
      writer.print(`${line}\n`);
    },
    draw() {},
    resized() {},
    press() {},
    connection(trouble) {
      if (trouble !== undefined) platform.err(`${trouble} Trying again.\n`);
      else if (isDown) platform.err("Reconnected.\n");
      isDown = trouble !== undefined;
    },
    end: () => writer.end(),
  };
}

function liveView(
  session: Session<WatchFlags>,
  name: string | undefined,
  namespace: string | undefined,
  quit: () => void,
): View {
  const { terminal, clock, out, isInputTerminal: hasKeys } = session.platform;
  const picture = new Picture(out, terminal);
  const colours = new Map<string, number>();
  const recent: ReportedChange[] = [];
  const windowMs = parseDuration(session.flags.window) as number;
  let trouble: string | undefined;
  let view = initialView;
  let shown: Rows = { titles: [], page: 1 };
  return {
    report(watched, change) {
      recent.push({ wallMs: wallTimeOf(change, clock), title: titleOf(watched), change });
      if (recent.length > mostRecent) recent.shift();
    },
    draw(elections) {
      const drawing = drawLive({
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
        view,
        hasKeys,
        colourOf(holder) {
          const colour = colours.get(holder) ?? colours.size;
          colours.set(holder, colour);
          return colour;
        },
      });
      shown = drawing;
      picture.draw(drawing.lines);
    },
    resized: () => picture.forget(),
    press(keys, redraw) {
      for (const key of keysIn(keys)) view = pressKey(view, key, shown);
      if (view.hasQuit) quit();
      else redraw();
    },
    connection: (now) => {
      trouble = now;
    },
    end: async () => picture.end(),
  };
}
