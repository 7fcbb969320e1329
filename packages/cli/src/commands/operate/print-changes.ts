/** For -w: prints an election again whenever it changes, until the command is stopped or nobody reads. */
import type { OperateFlags, Session } from "../../cluster/session.ts";
import { lineWriter } from "../../display/line-writer.ts";
import type { Change } from "../../elections/history.ts";
import type { ElectionState } from "../../elections/state.ts";
import { type Watched, type WatchOptions, watchChanges } from "../../elections/watch-changes.ts";
import { firstSignal } from "../../signals.ts";

type What = Pick<WatchOptions, "kinds" | "namespace" | "name" | "selector" | "withNodes" | "known">;

/** @param format what to print; gets the last known state of a lock that was deleted */
export async function printChanges(
  session: Session<OperateFlags>,
  what: What,
  format: (state: ElectionState, isDeleted: boolean, watched: Watched, change: Change) => Promise<string>,
): Promise<void> {
  const { platform } = session;
  const stop = new AbortController();
  const writer = lineWriter(platform, () => stop.abort());
  const last = new Map<Watched, ElectionState>();
  let printed: Promise<void> = Promise.resolve();
  let isDown = false;
  const { ended } = watchChanges(session, {
    ...what,
    signal: AbortSignal.any([stop.signal, firstSignal(platform).signal]),
    clock: platform.clock,
    onChange(watched, change) {
      const state = watched.state ?? last.get(watched);
      if (state === undefined) return;
      printed = printed.then(async () =>
        writer.print(await format(state, change.kind === "deleted", watched, change)),
      );
    },
    onTick(elections) {
      for (const watched of elections) if (watched.state) last.set(watched, watched.state);
    },
    onUp() {
      if (isDown) platform.err("Reconnected.\n");
      isDown = false;
    },
    onDown(error) {
      isDown = true;
      platform.err(`${error.message} Trying again.\n`);
    },
  });
  await ended;
  await printed;
  await writer.end();
}
