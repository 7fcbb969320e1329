/** The timeline that a page in one file carries in itself. */
import type { ElectionLine } from "../model/election.ts";
import { Timeline, type TimelineData } from "../model/timeline.ts";
import type { App } from "./app.ts";
import { monotonicMs, pause } from "./platform.ts";

const turnMs = 8;

/** Whether there was one. */
export async function openRecorded(app: App): Promise<boolean> {
  const [first, ...rest] = document.querySelectorAll<HTMLScriptElement>("script.recorded");
  if (!first) return false;
  const head = JSON.parse(first.textContent ?? "") as TimelineData & { title: string };
  const elections: ElectionLine[] = [];
  let turnBeganMs = monotonicMs();
  for (const script of rest) {
    elections.push(JSON.parse(script.textContent ?? "") as ElectionLine);
    // The text is not needed a second time.
    script.remove();
    if (monotonicMs() - turnBeganMs < turnMs) continue;
    await pause();
    turnBeganMs = monotonicMs();
  }
  app.begin(
    Timeline.from({ ...head, elections }),
    { scope: head.title, isRecording: true, canAct: false },
    head.nowMs,
  );
  app.ready();
  return true;
}
