/** What `tenure watch` shows on a terminal: who leads, a timeline of each election, and the last changes. Pure. */
import { describeChange, titleOf } from "../../display/descriptions.ts";
import { spell } from "../../display/durations.ts";
import { type Paint, withoutControls } from "../../display/paint.ts";
import { table } from "../../display/table.ts";
import { drawTimeline } from "../../display/timeline.ts";
import type { Change } from "../../elections/history.ts";
import type { Watched } from "../../elections/watch-changes.ts";
import type { Rows, ViewState } from "./view-keys.ts";

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
  readonly view: ViewState;
  /** Whether the terminal sends keys. */
  readonly hasKeys: boolean;
  colourOf(holder: string): number;
}

const mostRecent = 8;
/** Fewer changes are shown if the elections need the room. */
const fewestRecent = 3;
/** Wider timelines are hard to read. */
const widestDrawing = 120;

export interface Drawing extends Rows {
  readonly lines: readonly string[];
}

export function drawLive(facts: LiveFacts): Drawing {
  const { trouble, paint, view, rows } = facts;
  const shown = visible(facts);
  const titles = shown.map(titleOf);
  const head = heading(facts, shown.length);
  if (trouble !== undefined)
    head.push(paint.bad(`Disconnected, so this may be out of date: ${withoutControls(trouble)}`), "");
  const details = shown.flatMap((watched) => describe(watched, facts));
  // One row stays free, see Picture; two are for the headings of the table and a blank line.
  const page = Math.max(1, rows - 1 - head.length - fewestRecent - 2);
  const isLong = view.zoomed === undefined && shown.length > 1 && details.length + head.length > rows - 2;
  const body = isLong ? compact(shown, facts, page) : details;
  if (shown.length === 0) body.push(paint.dim("No elections yet."), "");
  const lines = [...head, ...body];
  const room = Math.max(1, Math.min(mostRecent, rows - lines.length - 2));
  return { lines: [...lines, ...recentLines(facts, room)], titles, page };
}

function visible({ elections, view }: LiveFacts): Watched[] {
  const sorted = [...elections].sort((a, b) => (titleOf(a) < titleOf(b) ? -1 : 1));
  if (view.zoomed !== undefined) return sorted.filter((watched) => titleOf(watched) === view.zoomed);
  const filter = view.filter.toLowerCase();
  return sorted.filter((watched) =>
    `${titleOf(watched)} ${watched.history.leader ?? ""}`.toLowerCase().includes(filter),
  );
}

function heading(facts: LiveFacts, count: number): string[] {
  const { paint, scope, wallMs, view, hasKeys, elections } = facts;
  const filter = withoutControls(view.filter);
  const typed = view.isTyping ? `filter: ${filter}▏` : filter === "" ? "" : `filter: ${filter}`;
  const number = elections.length > 1 ? `  ${count} of ${elections.length}` : "";
  const keys = !hasKeys
    ? "Ctrl-C to quit"
    : elections.length > 1
      ? view.zoomed === undefined
        ? "↑↓ select  Enter open  / filter  q quit"
        : "Esc back  q quit"
      : "q to quit";
  const time = paint.dim(`${clockTime(wallMs)}${number}  ${keys}`);
  return [
    `${paint.bold(withoutControls(scope))}  ${time}`,
    ...(typed === "" ? [""] : [paint.warn(typed), ""]),
  ];
}

function describe(watched: Watched, facts: LiveFacts): string[] {
  const { nowMs, windowMs, columns, paint, colourOf } = facts;
  const { spans, knownFromMs = nowMs } = watched.history;
  const width = Math.min(columns - 1, widestDrawing);
  return [
    summary(watched, facts),
    ...drawTimeline({ spans, knownFromMs, nowMs, windowMs, width, paint, colourOf }),
    "",
  ];
}

/** One row for each election, if there are too many for timelines. */
function compact(shown: readonly Watched[], facts: LiveFacts, page: number): string[] {
  const { paint, columns, nowMs, view, colourOf } = facts;
  const selected = Math.min(view.selected, shown.length - 1);
  // The selected row stays in the middle, except at both ends of the list.
  const first = Math.max(0, Math.min(selected - Math.floor(page / 2), shown.length - page));
  const rows = shown.map((watched, row) => {
    const { leader, spans, expiresAtMs, last } = watched.history;
    const since = leader === undefined ? spans.at(-1)?.toMs : spans.at(-1)?.fromMs;
    return [
      `${row === selected ? "›" : " "} ${titleOf(watched)}`,
      leader === undefined ? paint.bad("<none>") : paint.nth(colourOf(leader), withoutControls(leader)),
      since === undefined ? "-" : spell(nowMs - since),
      expiresAtMs === undefined ? "-" : spell(Math.max(0, expiresAtMs - nowMs)),
      String(last?.record.leaseTransitions ?? 0),
      last?.orders.paused ? paint.warn("paused") : watched.state === undefined ? "deleted" : "-",
    ];
  });
  const drawn = table(["  NAME", "LEADER", "SINCE", "EXPIRES", "TRANSITIONS", "NOTE"], rows, {
    paint,
    width: columns,
    shrink: ["  NAME", "LEADER"],
    drop: ["TRANSITIONS", "NOTE", "EXPIRES"],
  });
  const [head = "", ...lines] = drawn.text.trimEnd().split("\n");
  return [head, ...lines.slice(first, first + page), ""];
}

function recentLines({ elections, recent, view, paint }: LiveFacts, room: number): string[] {
  const about = recent.filter(({ title }) => view.zoomed === undefined || title === view.zoomed);
  return about.slice(-room).map(({ wallMs: at, title, change }) => {
    const where = elections.length > 1 && view.zoomed === undefined ? `${title}  ` : "";
    return `${paint.dim(clockTime(at))}  ${where}${withoutControls(describeChange(change))}`;
  });
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
