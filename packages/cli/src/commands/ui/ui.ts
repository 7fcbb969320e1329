/** `tenure ui`: serves the page until a signal stops it, or writes it to a file. */
import { readFile } from "node:fs/promises";
import { messageOf } from "@tenure/base";
import {
  LiveFeed,
  readRecording,
  startUiServer,
  Timeline,
  type UiActions,
  UiError,
  writePage,
} from "@tenure/ui";
import type { Command } from "commander";
import { inSession, type Session } from "../../cluster/session.ts";
import { listLocks } from "../../elections/find.ts";
import { follow } from "../../elections/follow.ts";
import { isElection } from "../../elections/other-leases.ts";
import { CliError } from "../../errors.ts";
import { addressFor, Observer } from "../../observe/observer.ts";
import type { Platform } from "../../platform.ts";
import { ReplicaFinder } from "../../replicas/replica-finder.ts";
import { parseReplica, type ReplicaAddress } from "../../replicas/replicas-option.ts";
import { rejectProblems } from "../../settings/problems.ts";
import { readSettings } from "../../settings/settings.ts";
import { firstSignal, onceAborted } from "../../signals.ts";
import { actionsIn } from "./actions.ts";
import { isLoopback, type UiFlags, uiProblems } from "./ui-flags.ts";

export async function runUi(name: string | undefined, command: Command, platform: Platform): Promise<number> {
  const { flags, problems, nameOf } = await readSettings<UiFlags>(command, platform);
  try {
    if (flags.open !== undefined) {
      rejectProblems([...problems, ...uiProblems(name, flags)], { nameOf, cannot: "run tenure ui" });
      return await openRecording(flags.open, flags, platform);
    }
    const check = (given: UiFlags) => uiProblems(name, given);
    return await inSession<UiFlags, number>(command, platform, { name, problems: check }, (session) =>
      showLive(name, session),
    );
  } catch (error) {
    throw error instanceof UiError
      ? new CliError("Failed", withoutStop(error.message), { cause: error })
      : error;
  }
}

/** Errors of the command have no full stop at the end. */
function withoutStop(message: string): string {
  return message.replace(/\.$/, "");
}

async function openRecording(path: string, flags: UiFlags, platform: Platform): Promise<number> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new CliError("Failed", `Cannot read the recording ${path}: ${messageOf(error)}`, { cause: error });
  });
  const { header, observations } = readRecording(text, path);
  const timeline = new Timeline();
  for (const seen of observations) timeline.observe(seen);
  const scope = `${header.source}, recorded at ${header.startedAt.slice(0, 16).replace("T", " ")} UTC`;
  if (flags.html !== undefined) {
    await writePage(flags.html, timeline, scope).catch((error: unknown) => {
      throw new CliError("Failed", `Cannot write ${flags.html}: ${messageOf(error)}`, { cause: error });
    });
    platform.out(`Wrote ${flags.html}. Open it in a browser.\n`);
    return 0;
  }
  const feed = new LiveFeed(timeline, platform.backgroundClock, () => timeline.nowMs);
  await serve({ feed, scope, isRecording: true }, flags, platform, onceAborted(firstSignal(platform).signal));
  return 0;
}

async function showLive(name: string | undefined, session: Session<UiFlags>): Promise<number> {
  const { flags, platform, server } = session;
  const namespace = flags.allNamespaces ? undefined : session.namespace;
  const kind = flags.lock ?? "lease";
  // One request before the watch: the watch would retry forever, but a failure here is reported at once.
  await listLocks(session, namespace, kind);
  const ended = firstSignal(platform).signal;
  const timeline = new Timeline();
  const observer = new Observer(platform.clock, (seen) => feed.observe(seen));
  const feed = new LiveFeed(timeline, platform.backgroundClock, () => observer.nowMs());
  const given = (flags.replica ?? []).map((text) => parseReplica(text) as ReplicaAddress);
  for (const address of given) void observer.replica(addressFor(address, session.namespace, name), ended);
  // Who names the replicas does not want others to be asked.
  const finder =
    given.length === 0 && !session.store ? new ReplicaFinder(session, observer, ended) : undefined;
  const where = name ?? (namespace === undefined ? "all namespaces" : `namespace ${namespace}`);
  const watching = follow(session, {
    kind,
    namespace,
    name,
    signal: ended,
    onState(state) {
      if (name === undefined && !isElection(state, { withHeartbeats: namespace === state.namespace })) return;
      observer.state(state);
      finder?.seen(state);
    },
    onDeleted: (of, named) => observer.deleted(of, named),
    onUp: () => observer.watch(undefined),
    onDown: (error) => observer.watch(error.message),
  });
  const actions = flags.readOnly ? undefined : actionsIn(session, timeline, ended);
  await serve(
    { feed, scope: `${where} of ${server}`, isRecording: false, ...(actions && { actions }) },
    flags,
    platform,
    watching,
  );
  return 0;
}

interface Shown {
  readonly feed: LiveFeed;
  readonly scope: string;
  readonly isRecording: boolean;
  readonly actions?: UiActions;
}

async function serve(shown: Shown, flags: UiFlags, platform: Platform, until: Promise<void>): Promise<void> {
  const { host, port, hostName = [] } = flags;
  const server = await startUiServer({
    ...shown,
    host,
    port,
    hostNames: hostName,
    isPublic: !isLoopback(host) && shown.actions === undefined,
    clock: platform.clock,
  });
  platform.out(`Open ${server.url}\n`);
  if (platform.isTerminal) platform.out("The address works once. Press Ctrl-C to stop.\n");
  try {
    await until;
  } finally {
    await server.close();
  }
}
