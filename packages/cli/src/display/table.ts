/** Aligned rows under headings, without lines or boxes, so that awk can read them too. */
import { type Paint, pad, widthOf } from "./paint.ts";

export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  paint: Paint,
): string {
  const all = [headings.map((heading) => paint.dim(heading)), ...rows];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => widthOf(row[column] ?? ""))));
  return all
    .map((row) =>
      row
        .map((cell, column) => pad(cell, widths[column] as number))
        .join("   ")
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join("");
}
