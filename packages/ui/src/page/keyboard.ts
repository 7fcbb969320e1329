/** The keys of the page. */
import type { App } from "./app.ts";
import { byId } from "./dom.ts";
import type { ElectionList } from "./election-list.ts";
import { pan } from "./time-range.ts";
import type { Tracks } from "./tracks.ts";

export interface Controls {
  readonly app: App;
  readonly tracks: Tracks;
  readonly list: ElectionList;
  readonly nextTheme: () => void;
  readonly closeDetails: () => void;
}

const step = 0.15;

export function startControls({ app, tracks, list, nextTheme, closeDetails }: Controls): void {
  const live = () => app.show(app.range, true);
  const actions: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => app.show(pan(app.range, -step)),
    ArrowRight: () => app.show(pan(app.range, step)),
    ArrowUp: () => list.move(-1),
    ArrowDown: () => list.move(1),
    "+": () => tracks.zoomAt(1 / 1.5),
    "=": () => tracks.zoomAt(1 / 1.5),
    "-": () => tracks.zoomAt(1.5),
    f: () => app.fit(),
    l: live,
    t: nextTheme,
    "/": () => byId("filter").focus(),
    Escape: closeDetails,
  };
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    const isTyping = target.matches("input, select, textarea") || target.closest("dialog") !== null;
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    // The panel scrolls with the arrow keys.
    if (target.closest(".details") !== null && event.key.startsWith("Arrow")) return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  const buttons: Readonly<Record<string, () => void>> = {
    earlier: () => app.show(pan(app.range, -step * 2)),
    later: () => app.show(pan(app.range, step * 2)),
    "zoom-in": () => tracks.zoomAt(1 / 1.5),
    "zoom-out": () => tracks.zoomAt(1.5),
    fit: () => app.fit(),
    live,
  };
  for (const [id, action] of Object.entries(buttons)) byId(id).addEventListener("click", action);
  const filter = byId<HTMLInputElement>("filter");
  filter.addEventListener("input", () => {
    app.filter = filter.value;
    byId("elections").scrollTop = 0;
    app.invalidate();
  });
}
