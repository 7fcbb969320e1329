/**
 * Redraws a text in place on a terminal. The cursor is hidden while it draws, and `end` shows it again.
 */
import type { TerminalSize } from "../platform.ts";
import { widthOf } from "./paint.ts";

const hideCursor = "\u001b[?25l";
const showCursor = "\u001b[?25h";
const clearBelow = "\u001b[J";
const clearAll = "\u001b[2J\u001b[H";

/** Output before the picture stays visible, and so does the last drawing. */
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
    // One row stays free: if the terminal scrolled, the next drawing would start in the wrong row.
    const most = this.#size.rows() - 1;
    const shown = lines.length <= most ? lines : [...lines.slice(0, most - 1), "…"];
    const up = this.#height > 0 ? `\u001b[${this.#height}A\r` : "\r";
    this.#out(
      `${this.#isHidden ? "" : hideCursor}${up}${clearBelow}${shown.map((line) => `${this.#cut(line)}\n`).join("")}`,
    );
    this.#isHidden = true;
    this.#height = shown.length;
  }

  /** After a resize the terminal has wrapped the old lines, so their rows cannot be counted. */
  forget(): void {
    this.#out(clearAll);
    this.#height = 0;
  }

  end(): void {
    // The terminal prints ^C at the cursor, so the next output starts on a new line.
    if (this.#isHidden) this.#out(`${showCursor}\n`);
    this.#isHidden = false;
  }

  #cut(line: string): string {
    const width = this.#size.columns();
    if (widthOf(line) <= width) return line;
    let left = width - 1;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences have no width and must stay whole
    const parts = line.match(/\u001b\[[\d;?]*[a-zA-Z]|[\s\S]/gu) ?? [];
    const kept = parts.filter((part) => (part.length > 1 && part.startsWith("\u001b") ? true : left-- > 0));
    return `${kept.join("")}…`;
  }
}
