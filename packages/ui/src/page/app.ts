/** The state of the page, and the loop that draws it. */
import type { ElectionLine } from "../model/election.ts";
import { Timeline } from "../model/timeline.ts";
import { later, monotonicMs } from "./platform.ts";
import { type Placed, place } from "./rows.ts";
import { fit, follow, type TimeRange } from "./time-range.ts";

export interface ServerFacts {
  readonly scope: string;
  readonly isRecording: boolean;
  /** Whether the server takes orders at all. */
  readonly canAct: boolean;
}

const firstLengthMs = 5 * 60_000;
const leastFirstMs = 60_000;
/** In the live view, the picture moves by at least this much before it is drawn again. */
const leastMovePx = 0.5;

export class App {
  timeline = new Timeline();
  facts: ServerFacts = { scope: "", isRecording: false, canAct: false };
  range: TimeRange = { fromMs: 0, toMs: firstLengthMs };
  isLive = true;
  filter = "";
  selected: string | undefined;
  /** Why the page shows nothing new. */
  trouble: string | undefined;
  isReady = false;
  readonly #draws: (() => void)[] = [];
  #offsetMs = 0;
  #frame = 0;
  #cancel = () => {};
  #order: ElectionLine[] = [];
  #ordered = -1;

  /** Called for every picture. */
  onDraw(draw: () => void): void {
    this.#draws.push(draw);
  }

  begin(timeline: Timeline, facts: ServerFacts, nowMs: number): void {
    this.timeline = timeline;
    this.facts = facts;
    this.#ordered = -1;
    this.setNow(nowMs);
  }

  ready(): void {
    this.#ordered = -1;
    if (!this.isReady) {
      if (this.facts.isRecording) this.fit();
      else this.range = follow({ fromMs: 0, toMs: this.#firstLengthMs() }, this.nowMs());
    }
    this.isReady = true;
    this.invalidate();
  }

  /** An observation that has just begun is not shown as a small part of five minutes. */
  #firstLengthMs(): number {
    const seenMs = this.nowMs() - (this.timeline.startMs || this.nowMs());
    return Math.min(Math.max(seenMs * 1.3, leastFirstMs), firstLengthMs);
  }

  /** The time by the clock of the observations. */
  setNow(nowMs: number): void {
    this.#offsetMs = nowMs - monotonicMs();
  }

  nowMs(): number {
    return this.facts.isRecording ? this.timeline.nowMs : monotonicMs() + this.#offsetMs;
  }

  fit(): void {
    const nowMs = this.nowMs();
    this.range = fit(Math.min(this.timeline.startMs || nowMs, nowMs - 1_000), nowMs);
    this.isLive = !this.facts.isRecording;
    this.invalidate();
  }

  show(range: TimeRange, isLive = false): void {
    this.range = range;
    this.isLive = isLive && !this.facts.isRecording;
    this.invalidate();
  }

  select(key: string | undefined): void {
    this.selected = key;
    this.invalidate();
  }

  /** The elections that match the filter, by name. */
  shown(): readonly ElectionLine[] {
    const { elections } = this.timeline;
    if (this.#ordered !== elections.size) {
      this.#ordered = elections.size;
      this.#order = [...elections.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
    }
    const wanted = this.filter.trim().toLowerCase();
    return wanted === "" ? this.#order : this.#order.filter(({ key }) => key.toLowerCase().includes(wanted));
  }

  placed(): { readonly placed: readonly Placed[]; readonly heightPx: number } {
    return place(this.shown());
  }

  line(): ElectionLine | undefined {
    return this.selected === undefined ? undefined : this.timeline.elections.get(this.selected);
  }

  /** Draws once, however often it is called before the next picture. */
  invalidate(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  #draw(): void {
    this.#cancel();
    const nowMs = this.nowMs();
    if (!this.facts.isRecording) this.timeline.advance(nowMs);
    if (this.isLive && this.isReady) this.range = follow(this.range, nowMs);
    for (const draw of this.#draws) draw();
    if (this.facts.isRecording) return;
    const msPerPx = (this.range.toMs - this.range.fromMs) / Math.max(innerWidth, 1);
    this.#cancel = later(Math.min(Math.max(msPerPx * leastMovePx, 50), 1_000), () => this.invalidate());
  }
}
