/** Aligned rows under headings, without lines or boxes, so that awk can read them too. */
import { type Paint, pad, widthOf } from "./paint.ts";

export interface TableOptions {
  readonly paint: Paint;
  /** Leave the headings out. */
  readonly noHeaders?: boolean;
  /** The columns of the screen. Undefined: rows may be as long as they are. */
  readonly width?: number | undefined;
  /** Columns whose cells may be shortened, by heading. */
  readonly shrink?: readonly string[];
  /** Columns that are left out if shortening is not enough, the least important first. */
  readonly drop?: readonly string[];
}

export interface Table {
  readonly text: string;
  /** One more row, aligned with those above. */
  row(cells: readonly string[]): string;
}

const gap = "   ";
/** A shortened cell still has this many characters. */
const narrowest = 10;

export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  options: TableOptions,
): Table {
  const { paint, noHeaders = false } = options;
  const head = headings.map((heading) => paint.dim(heading));
  const measured = noHeaders ? rows : [head, ...rows];
  const widths = fit(
    headings,
    headings.map((_, column) => Math.max(0, ...measured.map((row) => widthOf(row[column] ?? "")))),
    options,
  );
  const row = (cells: readonly string[]) =>
    `${cells
      .flatMap((cell, column) => {
        const width = widths[column];
        return width === undefined ? [] : [pad(options.width === undefined ? cell : cut(cell, width), width)];
      })
      .join(gap)
      .trimEnd()}\n`;
  return { text: measured.map(row).join(""), row };
}

/** The widths of the columns; undefined for those that are left out. */
function fit(
  headings: readonly string[],
  natural: readonly number[],
  { width, shrink = [], drop = [] }: TableOptions,
): (number | undefined)[] {
  const widths: (number | undefined)[] = [...natural];
  if (width === undefined) return widths;
  const excess = () => {
    const shown = widths.filter((each) => each !== undefined);
    return shown.reduce((sum, each) => sum + each, 0) + gap.length * (shown.length - 1) - width;
  };
  const shrinkable = headings.flatMap((heading, column) => (shrink.includes(heading) ? [column] : []));
  const shorten = () => {
    while (excess() > 0) {
      const widest = Math.max(...shrinkable.map((column) => widths[column] ?? 0));
      const column = shrinkable.find((each) => widths[each] === widest);
      if (column === undefined || widest <= narrowest) return;
      widths[column] = widest - 1;
    }
  };
  shorten();
  for (const heading of drop) {
    if (excess() <= 0) break;
    widths[headings.indexOf(heading)] = undefined;
    // The room of this column is for the names again.
    for (const column of shrinkable) if (widths[column] !== undefined) widths[column] = natural[column] ?? 0;
    shorten();
  }
  return widths;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it matches escape sequences
const leadingColours = /^(?:\u001b\[\d+m)*/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: it matches escape sequences
const trailingColours = /(?:\u001b\[\d+m)*$/;

/** The end of a name tells pods of one Deployment apart, so the middle is left out. */
function cut(cell: string, width: number): string {
  if (widthOf(cell) <= width) return cell;
  const [before = "", after = ""] = [leadingColours.exec(cell)?.[0], trailingColours.exec(cell)?.[0]];
  const text = cell.slice(before.length, cell.length - after.length);
  const characters = [...text];
  const end = Math.floor((width - 1) / 2);
  return `${before}${characters.slice(0, width - 1 - end).join("")}…${characters.slice(characters.length - end).join("")}${after}`;
}
