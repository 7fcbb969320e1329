/** The panel of the selected election: what is the case, what can be done, what happened. */
import { standingOf } from "../model/candidate.ts";
import { describeNow, describeOverlaps, endingOf, many, reasonOf } from "../model/describe.ts";
import { type ElectionLine, type Gap, presentTerm, type Term } from "../model/election.ts";
import { overlapsIn } from "../model/overlaps.ts";
import { spell } from "../model/spell.ts";
import { actionButtons } from "./actions.ts";
import type { App } from "./app.ts";
import { byId, element, setText } from "./dom.ts";
import { isLoss } from "./draw.ts";
import { FindingsView } from "./findings.ts";
import { timeOfDay } from "./time-range.ts";

const pageRows = 100;
const refreshMs = 250;

export class Details {
  readonly #app: App;
  readonly #offsetMs: number;
  readonly #panel = byId("details");
  readonly #now = element("p");
  readonly #overlaps = element("p");
  readonly #actions = element("div", { class: "actions" });
  readonly #candidates = element("dl", { class: "candidates" });
  readonly #shares = element("div");
  readonly #history = element("tbody");
  readonly #more = element("button", { type: "button", click: () => this.#showMore() }, "Show more");
  readonly #findings = new FindingsView();
  #key: string | undefined;
  #rows = pageRows;
  #drawnHistory = "";
  #drawnActions = "";
  #atMs = 0;

  constructor(app: App, offsetMs: number) {
    this.#app = app;
    this.#offsetMs = offsetMs;
  }

  draw(): void {
    const line = this.#app.line();
    this.#panel.hidden = line === undefined;
    if (!line) {
      this.#key = undefined;
      return;
    }
    if (line.key !== this.#key) this.#open(line);
    const nowMs = this.#app.nowMs();
    if (Math.abs(nowMs - this.#atMs) < refreshMs && this.#drawnHistory !== "") return;
    this.#atMs = nowMs;
    setText(this.#now, line.owners ? many(line.owners.length, "share") : describeNow(line, nowMs));
    setText(this.#overlaps, line.owners ? "" : describeOverlaps(overlapsIn(line, nowMs)));
    this.#drawCandidates(line, nowMs);
    this.#drawShares(line);
    this.#drawHistory(line, nowMs);
    this.#drawActions(line);
  }

  close(): void {
    const key = this.#key;
    this.#app.select(undefined);
    for (const head of document.querySelectorAll<HTMLElement>(".election .head")) {
      if (head.firstElementChild?.textContent === key) head.focus();
    }
  }

  #open(line: ElectionLine): void {
    this.#key = line.key;
    this.#rows = pageRows;
    this.#drawnHistory = "";
    this.#drawnActions = "";
    const head = ["From", "Length", "Who", "What"].map((text) => element("th", { scope: "col" }, text));
    this.#panel.replaceChildren(
      element(
        "header",
        {},
        element("h2", {}, line.key),
        element("button", { type: "button", "aria-label": "Close details", click: () => this.close() }, "✕"),
      ),
      this.#now,
      this.#overlaps,
      this.#actions,
      element("h3", {}, "Candidates"),
      this.#candidates,
      this.#shares,
      this.#findings.root,
      element("h3", {}, "History, newest first"),
      element("table", { class: "history" }, element("thead", {}, element("tr", {}, ...head)), this.#history),
      this.#more,
    );
    this.#panel.scrollTop = 0;
    this.#findings.open(this.#app.facts.canAct ? line.key : undefined);
  }

  #drawCandidates(line: ElectionLine, nowMs: number): void {
    const ids = line.replicas.map(({ id }) => id);
    if (this.#candidates.dataset.ids !== JSON.stringify(ids)) {
      this.#candidates.dataset.ids = JSON.stringify(ids);
      this.#candidates.replaceChildren(...ids.flatMap((id) => [element("dt", {}, id), element("dd")]));
    }
    const values = this.#candidates.querySelectorAll("dd");
    for (const [index, replica] of line.replicas.entries()) {
      const value = values[index];
      if (value) setText(value, standingOf(line, replica, nowMs));
    }
  }

  #drawShares({ owners, moves }: ElectionLine): void {
    const text = JSON.stringify([owners, moves.length]);
    if (this.#shares.dataset.drawn === text) return;
    this.#shares.dataset.drawn = text;
    if (!owners) {
      this.#shares.replaceChildren();
      return;
    }
    const items = owners.map((owner, share) =>
      element("li", owner === "" ? { class: "free" } : {}, `${share}: ${owner === "" ? "nobody" : owner}`),
    );
    const moved = moves.slice(-20).reverse();
    const lines = moved.map(({ atMs, share, from, to }) =>
      element(
        "li",
        {},
        `${timeOfDay(atMs, this.#offsetMs)}  ${share}: ${from || "nobody"} → ${to || "nobody"}`,
      ),
    );
    this.#shares.replaceChildren(
      element("h3", {}, "Owners"),
      element("ul", { class: "shares" }, ...items),
      element("h3", {}, many(moves.length, "move")),
      element("ul", { class: "shares" }, ...lines),
    );
  }

  #drawActions(line: ElectionLine): void {
    const { facts } = this.#app;
    const candidates = line.replicas.filter(
      ({ lostMs, reportedMs, state }) =>
        lostMs === undefined && (reportedMs !== undefined || state !== undefined),
    );
    const key = JSON.stringify([
      facts.canAct,
      presentTerm(line)?.holder,
      line.orders.paused,
      candidates.map(({ id }) => id),
      line.owners !== undefined,
    ]);
    if (key === this.#drawnActions) return;
    this.#drawnActions = key;
    void actionButtons(
      this.#app,
      line,
      candidates.map(({ id }) => id),
    ).then((buttons) => {
      if (this.#key === line.key) this.#actions.replaceChildren(...buttons);
    });
  }

  #drawHistory(line: ElectionLine, nowMs: number): void {
    const all = historyOf(line);
    const last = all[0];
    const key = `${all.length} ${this.#rows} ${last?.toMs ?? Math.round(nowMs / 1_000)}`;
    if (key === this.#drawnHistory) return;
    this.#drawnHistory = key;
    this.#more.hidden = all.length <= this.#rows;
    this.#history.replaceChildren(...all.slice(0, this.#rows).map((span) => this.#row(span, nowMs)));
  }

  #row(span: Term | Gap, nowMs: number): HTMLElement {
    const isGap = "reason" in span;
    const length = `${isGap && span.isUpperBound ? "≤ " : ""}${spell((span.toMs ?? nowMs) - span.fromMs)}`;
    const isLost = isGap ? isLoss(span) : span.ending === "expired";
    const what = isGap
      ? reasonOf(span)
      : `${endingOf(span)}, ${span.token === undefined ? `transition ${span.transitions}` : `token ${span.token}`}`;
    return element(
      "tr",
      { class: `${isGap ? "gap" : "term"}${isLost ? " lost" : ""}` },
      element("td", { class: "time" }, timeOfDay(span.fromMs, this.#offsetMs)),
      element("td", { class: "length" }, length),
      element("td", {}, isGap ? "nobody" : span.holder),
      element("td", {}, what),
    );
  }

  #showMore(): void {
    this.#rows += pageRows;
    this.#drawnHistory = "";
    this.#app.invalidate();
  }
}

/** Terms and gaps, newest first. */
function historyOf({ terms, gaps }: ElectionLine): readonly (Term | Gap)[] {
  return [...terms, ...gaps].sort((a, b) => b.fromMs - a.fromMs);
}
