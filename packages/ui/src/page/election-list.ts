/** The elections as a list of elements, for the eye and for a screen reader. Only the visible ones exist. */
import { standingOf } from "../model/candidate.ts";
import { describeNow, describeOverlaps } from "../model/describe.ts";
import { presentGap, presentTerm } from "../model/election.ts";
import { overlapsIn } from "../model/overlaps.ts";
import type { App } from "./app.ts";
import { byId, element, setText } from "./dom.ts";
import { type Placed, type Row, rowsOf } from "./rows.ts";
import type { Tracks } from "./tracks.ts";

interface Item {
  readonly root: HTMLElement;
  readonly head: HTMLButtonElement;
  readonly now: HTMLElement;
  readonly overlaps: HTMLElement;
  readonly rows: HTMLElement;
  /** When the slow parts were computed. */
  atMs: number;
}

/** Sentences with durations change with every picture, but nobody reads that fast. */
const refreshMs = 250;

export class ElectionList {
  readonly #app: App;
  readonly #tracks: Tracks;
  readonly #list = byId("list");
  readonly #empty = byId("empty");
  readonly #items = new Map<string, Item>();

  constructor(app: App, tracks: Tracks) {
    this.#app = app;
    this.#tracks = tracks;
  }

  draw(): void {
    const { placed, heightPx } = this.#app.placed();
    this.#list.style.height = `${heightPx}px`;
    const present = new Set<string>();
    for (const block of this.#tracks.blocks) {
      present.add(block.line.key);
      this.#update(block, placed);
    }
    for (const [key, { root }] of this.#items) {
      // An element that has the focus stays, so that the focus is not lost.
      if (present.has(key) || root.contains(document.activeElement)) continue;
      root.remove();
      this.#items.delete(key);
    }
    this.#empty.hidden = placed.length > 0 || !this.#app.isReady;
    setText(
      this.#empty,
      this.#app.filter === ""
        ? "There are no elections here yet. They appear as soon as there are some."
        : "No election has this name.",
    );
  }

  /** Moves the focus to another election, and scrolls to it. */
  move(by: number): void {
    const { placed } = this.#app.placed();
    const at = placed.findIndex(({ line }) => line.key === this.#app.selected);
    const next = placed[Math.min(Math.max(at + by, 0), placed.length - 1)];
    if (!next) return;
    const scroller = byId("elections");
    if (next.topPx < scroller.scrollTop) scroller.scrollTop = next.topPx;
    const below = next.topPx + next.heightPx - scroller.scrollTop - scroller.clientHeight;
    if (below > 0) scroller.scrollTop += below;
    this.#app.select(next.line.key);
    requestAnimationFrame(() => requestAnimationFrame(() => this.#items.get(next.line.key)?.head.focus()));
  }

  #update(block: Placed, placed: readonly Placed[]): void {
    const { line, topPx, heightPx } = block;
    let item = this.#items.get(line.key);
    if (!item) {
      item = this.#create(line.key);
      this.#items.set(line.key, item);
      this.#list.append(item.root);
    }
    item.root.style.top = `${topPx}px`;
    item.root.style.height = `${heightPx}px`;
    item.root.classList.toggle("selected", line.key === this.#app.selected);
    item.head.setAttribute("aria-expanded", String(line.key === this.#app.selected));
    item.rows.style.width = `${this.#tracks.leftPx}px`;
    const nowMs = this.#app.nowMs();
    if (Math.abs(nowMs - item.atMs) < refreshMs) return;
    item.atMs = nowMs;
    const at = placed.findIndex((one) => one.line === line);
    item.root.setAttribute("aria-posinset", String(at + 1));
    item.root.setAttribute("aria-setsize", String(placed.length));
    const isVacant =
      presentTerm(line) === undefined && presentGap(line) !== undefined && line.owners === undefined;
    setText(item.now, line.owners ? sharesText(line.owners) : describeNow(line, nowMs));
    item.now.classList.toggle("vacant", isVacant);
    const summary = overlapsIn(line, nowMs);
    setText(item.overlaps, line.owners ? "" : describeOverlaps(summary));
    item.overlaps.classList.toggle("bad", summary.overlaps.length > 0);
    this.#rows(item.rows, rowsOf(line), block, nowMs);
  }

  #create(key: string): Item {
    const now = element("span", { class: "now" });
    const overlaps = element("span", { class: "overlaps" });
    const head = element(
      "button",
      { class: "head", type: "button", "aria-expanded": "false", click: () => this.#app.select(key) },
      element("strong", {}, key),
      now,
      overlaps,
    );
    const rows = element("ul", { class: "rows" });
    const root = element("li", { class: "election" }, head, rows);
    return { root, head, now, overlaps, rows, atMs: Number.NEGATIVE_INFINITY };
  }

  #rows(list: HTMLElement, rows: readonly Row[], { line }: Placed, nowMs: number): void {
    while (list.children.length > rows.length) list.lastElementChild?.remove();
    for (const [index, { id, label }] of rows.entries()) {
      let item = list.children[index] as HTMLElement | undefined;
      if (!item) {
        item = element("li", {}, element("span", { class: "id" }), element("span", { class: "why" }));
        list.append(item);
      }
      const replica = id === undefined ? undefined : line.replicas.find((one) => one.id === id);
      const [name, why] = item.children as unknown as [HTMLElement, HTMLElement];
      const standing = replica ? standingOf(line, replica, nowMs) : "";
      // The cells of shares have the number of their row.
      const shown = line.owners ? `${index + 1}  ${label}` : label;
      setText(name, shorten(shown, Math.floor((this.#tracks.leftPx - 20) / letterPx)));
      setText(why, standing === "" ? "" : ` ${standing}`);
      item.title = `${label}${standing === "" ? "" : `: ${standing}`}`;
      item.classList.toggle("leads", id !== undefined && presentTerm(line)?.holder === id);
    }
  }
}

const letterPx = 8;

/** The names of pods differ at their ends. */
function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = Math.max(5, Math.floor(most / 2));
  return `${text.slice(0, Math.max(1, most - end - 1))}…${text.slice(-end)}`;
}

/** "16 shares: a 6, b 10" */
function sharesText(owners: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const owner of owners) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  const parts = [...counts].map(([owner, count]) =>
    owner === "" ? `${count} without an owner` : `${owner} ${count}`,
  );
  return `${owners.length} shares: ${parts.join(", ")}`;
}
