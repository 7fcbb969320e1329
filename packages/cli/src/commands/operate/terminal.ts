/**
 * The size of the terminal, and drawing over what was drawn before. The cursor is hidden while it draws, and is back however
 * it ends.
 */
import { widthOf } from "../../elections/paint.ts";

export interface TerminalSize {
  columns(): number;
  rows(): number;
  /** Calls back when the size changes; the result ends it. */
  onResize(listener: () => void): () => void;
}

const usualColumns = 80;
const usualRows = 24;

export const systemTerminal: TerminalSize = {
  columns: () => process.stdout.columns || usualColumns,
  rows: () => process.stdout.rows || usualRows,
  onResize(listener) {
    process.stdout.on("resize", listener);
    return () => process.stdout.off("resize", listener);
  },
};

const hideCursor = "\u001b[?25l";
const showCursor = "\u001b[?25h";
const clearBelow = "\u001b[J";
const clearAll = "\u001b[2J\u001b[H";

/** A picture that is drawn again in place. What was printed before it stays, and so does its last state. */
export class Picture {
  readonly #out: (text: string) => void;
  readonly #size: TerminalSize;
  #height = 0;
  #isHidden = false;

  constructor(out: (text: string) => void, size: TerminalSize) {
    this.#out = out;
    this.#size = size;
  }

  draw(lines: readonly string[]): void {
    // One row stays free: a terminal that scrolls would move what the next drawing counts on.
    const most = this.#size.rows() - 1;
    const shown = lines.length <= most ? lines : [...lines.slice(0, most - 1), "…"];
    const up = this.#height > 0 ? `\u001b[${this.#height}A\r` : "\r";
    this.#out(
      `${this.#isHidden ? "" : hideCursor}${up}${clearBelow}${shown.map((line) => `${this.#cut(line)}\n`).join("")}`,
    );
    this.#isHidden = true;
    this.#height = shown.length;
  }

  /** The terminal wrapped what was drawn for another width: there is nothing to count rows by. */
  forget(): void {
    this.#out(clearAll);
    this.#height = 0;
  }

  end(): void {
    // The terminal shows ^C where the cursor is: what comes next gets a line of its own.
    if (this.#isHidden) this.#out(`${showCursor}\n`);
    this.#isHidden = false;
  }

  #cut(line: string): string {
    const width = this.#size.columns();
    if (widthOf(line) <= width) return line;
    let left = width - 1;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escapes take no room and must stay whole
    const parts = line.match(/\u001b\[[\d;?]*[a-zA-Z]|[\s\S]/gu) ?? [];
    const kept = parts.filter((part) => (part.length > 1 && part.startsWith("\u001b") ? true : left-- > 0));
    return `${kept.join("")}…`;
  }
}
