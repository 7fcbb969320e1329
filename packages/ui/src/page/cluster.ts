/** What runs in the cluster, and for a sandbox: buttons to break things. */
import type { ClusterView } from "../server/server.ts";
import type { App } from "./app.ts";
import { confirmRequest } from "./dialog.ts";
import { byId, element } from "./dom.ts";
import { later } from "./platform.ts";
import { ask } from "./stream.ts";

const askEveryMs = 2_000;

export class ClusterPanel {
  readonly #app: App;
  readonly #panel = byId("cluster");
  readonly #button = byId("cluster-button");
  readonly #faults = element("div");
  readonly #tables = element("div");
  #drawn = "";
  #drawnFaults = "";
  #cancel = () => {};

  constructor(app: App) {
    this.#app = app;
    this.#button.addEventListener("click", () => this.#toggle());
    const close = element("button", { type: "button", "aria-label": "Close the cluster" }, "✕");
    close.addEventListener("click", () => this.#toggle());
    this.#panel.append(
      element("header", {}, element("h2", {}, "Cluster"), close),
      this.#faults,
      this.#tables,
    );
  }

  draw(): void {
    this.#button.hidden = !this.#app.facts.canAct;
    // There is room for one panel.
    if (this.#app.selected !== undefined && !this.#panel.hidden) this.#toggle();
  }

  #toggle(): void {
    this.#panel.hidden = !this.#panel.hidden;
    this.#button.setAttribute("aria-expanded", String(!this.#panel.hidden));
    this.#cancel();
    if (this.#panel.hidden) {
      this.#button.focus();
      return;
    }
    this.#app.select(undefined);
    void this.#ask();
  }

  async #ask(): Promise<void> {
    const view = await ask<ClusterView>("cluster").catch(() => undefined);
    if (this.#panel.hidden) return;
    if (view) this.#show(view);
    this.#cancel = later(askEveryMs, () => void this.#ask());
  }

  #show(view: ClusterView): void {
    const faults = JSON.stringify([view.faults, view.active]);
    if (faults !== this.#drawnFaults) {
      this.#drawnFaults = faults;
      this.#faults.replaceChildren(...this.#faultButtons(view));
    }
    const tables = JSON.stringify(view.tables);
    if (tables === this.#drawn) return;
    this.#drawn = tables;
    this.#tables.replaceChildren(...view.tables.flatMap(tableOf));
  }

  #faultButtons({ faults, active }: ClusterView): HTMLElement[] {
    if (faults.length === 0) return [];
    const buttons = faults.flatMap(({ id, label, text, targets }) => {
      const question = (target?: string) =>
        confirmRequest({
          path: "faults",
          body: { what: id, ...(target !== undefined && { target }) },
          title: `${label}${target === undefined ? "" : ` ${target}`}?`,
          text,
          verb: label,
        });
      return targets === undefined
        ? [element("button", { type: "button", click: () => question() }, label)]
        : targets.map((target) =>
            element("button", { type: "button", click: () => question(target) }, `${label} ${target}`),
          );
    });
    return [
      element("h3", {}, "Break something in this sandbox"),
      element("div", { class: "actions" }, ...buttons),
      ...active.map((text) => element("p", { class: "active-fault" }, text)),
    ];
  }
}

function tableOf({ title, columns, rows }: ClusterView["tables"][number]): HTMLElement[] {
  const head = columns.map((text) => element("th", { scope: "col" }, text));
  const body = rows.map((row) => element("tr", {}, ...row.map((text) => element("td", {}, text))));
  return [
    element("h3", {}, `${title} (${rows.length})`),
    element(
      "div",
      { class: "scrolls" },
      element(
        "table",
        { class: "history" },
        element("thead", {}, element("tr", {}, ...head)),
        element("tbody", {}, ...body),
      ),
    ),
  ];
}
