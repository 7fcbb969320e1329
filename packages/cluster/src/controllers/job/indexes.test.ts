import { expect, it } from "vitest";
import { formatIndexes, parseIndexes } from "./indexes.ts";

it.each(["", "0", "0,1", "0-2", "1,3-5,7,8"])("reads and writes %j", (text) => {
  expect(formatIndexes(parseIndexes(text))).toBe(text);
});
