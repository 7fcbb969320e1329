/**
 * Text in the quotes of Go's %q, which Kubernetes puts around everything that a client sent. Whatever comes in, what
 * comes out can be printed, and can stand in a header.
 *
 * Which characters can be printed is decided by the Unicode version of this Node, so that a character younger than
 * the API server's Go may be shown where the API server shows its number.
 */

/** Letters, marks, numbers, punctuation, symbols and the plain space: what unicode.IsPrint lets through. */
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

export const isPrintable = (character: string) => printable.test(character);

const named: Record<string, string> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  '"': '\\"',
  "\\": "\\\\",
};

export function quote(text: string): string {
  return `"${[...text].map(escapeCharacter).join("")}"`;
}

/** As encoding/json shows where it stopped: one byte, as if it were a character, between single quotes. */
export function quoteByte(byte: number): string {
  const character = String.fromCharCode(byte);
  if (character === "'") return "'\\''";
  if (character === '"') return "'\"'";
  return `'${escapeCharacter(character)}'`;
}

function escapeCharacter(character: string): string {
  const known = named[character];
  if (known !== undefined) return known;
  const code = character.codePointAt(0) as number;
  // Half of a surrogate pair is no character; Go reads it as this one.
  if (code >= 0xd800 && code <= 0xdfff) return "\ufffd";
  if (isPrintable(character)) return character;
  if (code < 0x80) return `\\x${hex(code, 2)}`;
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

const hex = (code: number, digits: number) => code.toString(16).padStart(digits, "0");
