/** What is shown, whether it is up to date, and whether any work overlapped. */
import { many } from "../model/describe.ts";
import { overlapsIn } from "../model/overlaps.ts";
import type { App } from "./app.ts";
import { byId, setText } from "./dom.ts";

/** All elections are counted, which is not needed for every picture. */
const countEveryMs = 1_000;

export class TopBar {
  readonly #app: App;
  #countedMs = Number.NEGATIVE_INFINITY;
  #counted: unknown;

  constructor(app: App) {
    this.#app = app;
  }

  draw(): void {
    const { facts, trouble, timeline, isLive, isReady } = this.#app;
    const connection = byId("connection");
    const live = byId<HTMLButtonElement>("live");
    live.setAttribute("aria-pressed", String(isLive && !facts.isRecording));
    live.disabled = facts.isRecording;
    if (isReady) setText(byId("scope"), facts.scope);
    const problem =
      trouble ?? (timeline.trouble === undefined ? undefined : `Changes are missed: ${timeline.trouble}`);
    setText(connection, problem ?? (!isReady ? "" : facts.isRecording ? "recording" : "live"));
    connection.classList.toggle("down", problem !== undefined);
    connection.classList.toggle("up", problem === undefined && isReady && !facts.isRecording);
    const nowMs = this.#app.nowMs();
    if (!isReady || (this.#counted === timeline && Math.abs(nowMs - this.#countedMs) < countEveryMs)) return;
    this.#countedMs = nowMs;
    this.#counted = timeline;
    this.#count(nowMs);
  }

  #count(nowMs: number): void {
    let [overlaps, terms, reported, elections] = [0, 0, 0, 0];
    for (const line of this.#app.timeline.elections.values()) {
      if (line.owners) continue;
      const summary = overlapsIn(line, nowMs);
      elections += 1;
      overlaps += summary.overlaps.length;
      terms += summary.terms;
      reported += summary.reported;
    }
    const source =
      reported === 0
        ? "by the records only"
        : reported < terms
          ? `work was reported in ${reported} of them`
          : "by the work that was reported";
    const verdict = byId("verdict");
    setText(
      verdict,
      `${many(overlaps, "overlap")} in ${many(terms, "term")} of ${many(elections, "election")}, ${source}`,
    );
    verdict.classList.toggle("bad", overlaps > 0);
  }
}
