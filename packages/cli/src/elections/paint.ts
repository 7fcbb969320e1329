/** Quiet colours, for terminals only: a pipe gets plain text, and so does whoever sets NO_COLOR (https://no-color.org). */

export interface Paint {
  readonly isOn: boolean;
  good(text: string): string;
  bad(text: string): string;
  warn(text: string): string;
  dim(text: string): string;
  bold(text: string): string;
  /** One of a few that are told apart easily; the same number is the same colour. */
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

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what is looked for
const escapes = /\u001b\[[\d;?]*[a-zA-Z]/g;

/** How many columns a text takes. */
export function widthOf(text: string): number {
  return [...text.replace(escapes, "")].length;
}

export function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

/** Names come from the cluster and could contain anything; a terminal obeys what it is sent. */
export function harmless(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, "\ufffd");
}
