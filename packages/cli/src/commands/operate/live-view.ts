/** What `tenure watch` shows on a terminal: who leads, a timeline of each election, and the last changes. Pure. */
import { describeChange, titleOf } from "../../display/descriptions.ts";
import { spell } from "../../display/durations.ts";
import { type Paint, withoutControls } from "../../display/paint.ts";
import { drawTimeline } from "../../display/timeline.ts";
import type { Change, History } from "../../elections/history.ts";
import type { ElectionState } from "../../elections/state.ts";

export interface Watched {
  readonly namespace: string;
  readonly name: string;
  readonly history: History;
  state?: ElectionState;
}

export interface ReportedChange {
  readonly wallMs: number;
  readonly title: string;
  readonly change: Change;
}

export interface LiveFacts {
  readonly elections: readonly Watched[];
  readonly recent: readonly ReportedChange[];
  /** Why the connection failed; undefined while connected. */
  readonly trouble: string | undefined;
  readonly scope: string;
  readonly nowMs: number;
  readonly wallMs: number;
  readonly windowMs: number;
  readonly columns: number;
  readonly rows: number;
  readonly paint: Paint;
  colourOf(holder: string): number;
}

const mostRecent = 8;
/** Wider timelines are hard to read. */
const widestDrawing = 120;

export function drawLive(facts: LiveFacts): string[] {
  const { elections, recent, trouble, paint, scope, wallMs, windowMs, columns, rows, nowMs, colourOf } =
    facts;
  const head = `${paint.bold(withoutControls(scope))}  ${paint.dim(`${clockTime(wallMs)}  Ctrl-C to quit`)}`;
  const lines = [head, ""];
  if (trouble !== undefined)
    lines.push(paint.bad(`Disconnected, so this may be out of date: ${withoutControls(trouble)}`), "");
  const sorted = [...elections].sort((a, b) => (titleOf(a) < titleOf(b) ? -1 : 1));
  for (const watched of sorted) {
    lines.push(summary(watched, facts));
    const { spans, knownFromMs = nowMs } = watched.history;
    const width = Math.min(columns - 1, widestDrawing);
    lines.push(...drawTimeline({ spans, knownFromMs, nowMs, windowMs, width, paint, colourOf }), "");
  }
  if (elections.length === 0) lines.push(paint.dim("No elections yet."), "");
  const room = Math.max(1, Math.min(mostRecent, rows - lines.length - 2));
  for (const { wallMs: at, title, change } of recent.slice(-room)) {
    const where = elections.length > 1 ? `${title}  ` : "";
    lines.push(`${paint.dim(clockTime(at))}  ${where}${withoutControls(describeChange(change))}`);
  }
  return lines;
}

function summary(watched: Watched, { nowMs, paint, colourOf }: LiveFacts): string {
  const { history, state } = watched;
  const title = paint.bold(titleOf(watched));
  const { leader } = history;
  const transitions = paint.dim(`transitions ${history.last?.record.leaseTransitions ?? 0}`);
  const paused = history.last?.orders.paused ? `  ${paint.warn("paused")}` : "";
  if (leader === undefined) {
    const since = history.spans.at(-1)?.toMs;
    const why = state === undefined ? "the lock does not exist" : "nobody leads";
    return `${title}  ${paint.bad(why)}${since === undefined ? "" : ` for ${spell(nowMs - since)}`}  ${transitions}${paused}`;
  }
  const since = history.spans.at(-1)?.fromMs ?? nowMs;
  const left = history.expiresAtMs === undefined ? "" : `, expires in ${spell(history.expiresAtMs - nowMs)}`;
  const who = paint.nth(colourOf(leader), withoutControls(leader));
  return `${title}  ${who} has led for ${spell(nowMs - since)}${paint.dim(left)}  ${transitions}${paused}`;
}

/** Local time. */
function clockTime(wallMs: number): string {
  const time = new Date(wallMs);
  return [time.getHours(), time.getMinutes(), time.getSeconds()]
    .map((value) => String(value).padStart(2, "0"))
    .join(":");
}
