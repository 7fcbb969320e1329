/** The keys of `tenure watch` on a terminal: what each does to the view. Pure. */

export interface ViewState {
  /** The selected row, from 0. */
  readonly selected: number;
  /** The election whose details are shown; undefined for the list. */
  readonly zoomed?: string;
  /** Only elections whose name or leader contains this are shown. */
  readonly filter: string;
  /** Whether keys go into the filter. */
  readonly isTyping: boolean;
  readonly hasQuit: boolean;
}

export const initialView: ViewState = { selected: 0, filter: "", isTyping: false, hasQuit: false };

export interface Rows {
  /** The titles of the rows, as they are shown. */
  readonly titles: readonly string[];
  /** How many rows fit on the screen. */
  readonly page: number;
}

/** The names of the keys, by what a terminal sends for them. */
const names: Readonly<Record<string, string>> = {
  "\u0003": "quit",
  "\u0004": "quit",
  q: "quit",
  "\u001b[A": "up",
  "\u001bOA": "up",
  k: "up",
  "\u001b[B": "down",
  "\u001bOB": "down",
  j: "down",
  "\u001b[5~": "page-up",
  b: "page-up",
  "\u001b[6~": "page-down",
  " ": "page-down",
  "\u001b[H": "first",
  "\u001b[1~": "first",
  g: "first",
  "\u001b[F": "last",
  "\u001b[4~": "last",
  G: "last",
  "\r": "open",
  "\n": "open",
  "\u001b": "back",
  "\u007f": "back",
  "/": "filter",
};

/** What a terminal sent at once may be several keys. */
export function keysIn(text: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: keys are sent as control sequences
  return text.match(/\u001b(?:\[[\d;]*[A-Za-z~]|O[A-Z])|[\s\S]/gu) ?? [];
}

export function pressKey(view: ViewState, key: string, rows: Rows): ViewState {
  if (view.isTyping) return type(view, key);
  const last = Math.max(0, rows.titles.length - 1);
  const select = (row: number): ViewState => ({ ...view, selected: Math.min(last, Math.max(0, row)) });
  switch (names[key]) {
    case "quit":
      return { ...view, hasQuit: true };
    case "up":
      return select(view.selected - 1);
    case "down":
      return select(view.selected + 1);
    case "page-up":
      return select(view.selected - rows.page);
    case "page-down":
      return select(view.selected + rows.page);
    case "first":
      return select(0);
    case "last":
      return select(last);
    case "open": {
      const zoomed = rows.titles[view.selected];
      return zoomed === undefined ? view : { ...view, zoomed };
    }
    case "back":
      return back(view);
    case "filter":
      return { ...withoutZoom(view), isTyping: true };
    default:
      return view;
  }
}

function type(view: ViewState, key: string): ViewState {
  if (key === "\u0003") return { ...view, hasQuit: true };
  if (key === "\r" || key === "\n") return { ...view, isTyping: false };
  if (key === "\u001b") return { ...view, isTyping: false, filter: "", selected: 0 };
  if (key === "\u007f") return { ...view, filter: view.filter.slice(0, -1), selected: 0 };
  return /^[^\p{Cc}]$/u.test(key) ? { ...view, filter: view.filter + key, selected: 0 } : view;
}

function back(view: ViewState): ViewState {
  return view.zoomed === undefined ? { ...view, filter: "", selected: 0 } : withoutZoom(view);
}

function withoutZoom({ zoomed: _zoomed, ...rest }: ViewState): ViewState {
  return rest;
}
