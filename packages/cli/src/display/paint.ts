/** Colours for terminals. Pipes get plain text, and so does a terminal if NO_COLOR is set (https://no-color.org). */

export interface Paint {
  readonly isOn: boolean;
  good(text: string): string;
  bad(text: string): string;
  warn(text: string): string;
  dim(text: string): string;
  bold(text: string): string;
  /** One of a few distinct colours. The same number gives the same colour. */
  nth(index: number, text: string): string;
}

const hues = [36, 33, 35, 32, 34, 31];

export function paintFor(platform: { isTerminal: boolean; env(name: string): string | undefined }): Paint {
  const isOn = platform.isTerminal && !platform.env("NO_COLOR") && platform.env("TERM") !== "dumb";
  const style = (code: number) => (text: string) => (isOn && text ? `\u001b[${code}m${text}\u001b[0m` : text);
  return {
    isOn,
    good: style(32),
    bad: style(31),
    warn: style(33),
    dim: style(2),
    bold: style(1),
    nth: (index, text) => style(hues[index % hues.length] as number)(text),
  };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it matches escape sequences
const escapes = /\u001b\[[\d;?]*[a-zA-Z]/g;

/** The number of columns that a text occupies. */
export function widthOf(text: string): number {
  return [...text.replace(escapes, "")].length;
}

export function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

/** Replaces control characters. Names come from the cluster, and a terminal would execute escape sequences in them. */
export function withoutControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it matches control characters
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, "\ufffd");
}
