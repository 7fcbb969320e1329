/** The picture of `tenure watch` on a terminal: who leads, a timeline for each election, the last changes. Pure. */
import { describeChange } from "../../elections/history.ts";
import { harmless, type Paint } from "../../elections/paint.ts";
import { spell } from "../../elections/time-words.ts";
import { drawTimeline } from "../../elections/timeline.ts";
import type { Told, Watched } from "./watch.ts";

export interface LiveFacts {
  readonly elections: readonly Watched[];
  readonly recent: readonly Told[];
  /** Why there is no connection. */
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
/** A line that is as wide as the terminal makes some of them wrap. */
const widestDrawing = 120;

export function drawLive(facts: LiveFacts): string[] {
  const { elections, recent, trouble, paint, scope, wallMs, windowMs, columns, rows, nowMs, colourOf } =
    facts;
  const head = `${paint.bold(harmless(scope))}  ${paint.dim(`${clockTime(wallMs)}  Ctrl-C ends`)}`;
  const lines = [head, ""];
  if (trouble !== undefined)
    lines.push(paint.bad(`No connection, what follows may be old: ${harmless(trouble)}`), "");
  const sorted = [...elections].sort((a, b) => (titleOf(a) < titleOf(b) ? -1 : 1));
  for (const watched of sorted) {
    lines.push(summary(watched, facts));
    const { spans, knownFromMs = nowMs } = watched.history;
    const width = Math.min(columns - 1, widestDrawing);
    lines.push(...drawTimeline({ spans, knownFromMs, nowMs, windowMs, width, paint, colourOf }), "");
  }
  if (elections.length === 0) lines.push(paint.dim("No election yet."), "");
  const room = Math.max(1, Math.min(mostRecent, rows - lines.length - 2));
  for (const { wallMs: at, title, change } of recent.slice(-room)) {
    const where = elections.length > 1 ? `${title}  ` : "";
    lines.push(`${paint.dim(clockTime(at))}  ${where}${harmless(describeChange(change))}`);
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
    return `${title}  ${paint.bad(why)}${since === undefined ? "" : ` since ${spell(nowMs - since)}`}  ${transitions}${paused}`;
  }
  const since = history.spans.at(-1)?.fromMs ?? nowMs;
  const left = history.expiresAtMs === undefined ? "" : `, expires in ${spell(history.expiresAtMs - nowMs)}`;
  const who = paint.nth(colourOf(leader), harmless(leader));
  return `${title}  ${who} leads since ${spell(nowMs - since)}${paint.dim(left)}  ${transitions}${paused}`;
}

function titleOf({ namespace, name }: Watched): string {
  return `${namespace}/${name}`;
}

/** Local time, as a clock on the wall shows it. */
function clockTime(wallMs: number): string {
  const time = new Date(wallMs);
  return [time.getHours(), time.getMinutes(), time.getSeconds()]
    .map((value) => String(value).padStart(2, "0"))
    .join(":");
}
