import { expect, it } from "vitest";
import { spell } from "./spell.ts";

it.each([
  [0, "0 ms"],
  [41.4, "41 ms"],
  [999.6, "1.0 s"],
  [15_234, "15.2 s"],
  [59_960, "1 min"],
  [185_000, "3 min 5 s"],
  [3_600_000, "1 h"],
  [5_400_000, "1 h 30 min"],
  [90_000_000, "1 d 1 h"],
])("%d ms is %s", (ms, text) => expect(spell(ms)).toBe(text));
