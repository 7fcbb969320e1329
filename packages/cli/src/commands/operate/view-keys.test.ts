import { expect, it } from "vitest";
import { initialView, keysIn, pressKey, type ViewState } from "./view-keys.ts";

const titles = Array.from({ length: 50 }, (_, index) => `ns/election-${index}`);
const press = (text: string, view: ViewState = initialView) =>
  keysIn(text).reduce((state, key) => pressKey(state, key, { titles, page: 10 }), view);

it.each([
  ["arrows", "\u001b[B\u001b[B\u001b[A", 1],
  ["letters", "jjjk", 2],
  ["up at the top", "k", 0],
  ["pages", "\u001b[6~\u001b[6~\u001b[5~", 10],
  ["a blank is a page", "  ", 20],
  ["the end", "G", 49],
  ["down at the end", "Gj", 49],
  ["the beginning again", "Gg", 0],
])("selects by %s", (_, keys, selected) => {
  expect(press(keys).selected).toBe(selected);
});

it("opens the selected election with Enter, and goes back with Escape", () => {
  const open = press("jj\r");
  expect(open.zoomed).toBe("ns/election-2");
  expect(press("\u001b", open)).toEqual({ ...open, zoomed: undefined });
});

it("types a filter after a slash: q and j are letters there, Backspace removes one, Escape all", () => {
  expect(press("jj/qj")).toMatchObject({ filter: "qj", isTyping: true, hasQuit: false, selected: 0 });
  expect(press("/qj\u007f\r")).toMatchObject({ filter: "q", isTyping: false });
  expect(press("/qj\u001b")).toMatchObject({ filter: "", isTyping: false });
});

it.each(["q", "\u0003", "/a\u0003"])("quits with %j", (keys) => {
  expect(press(keys).hasQuit).toBe(true);
});
