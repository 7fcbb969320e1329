/**
 * Quotes text like Go's %q, as Kubernetes does with all text from clients. The result is always printable and can be
 * used in a header.
 *
 * The Unicode version of Node decides which characters are printable. It can print a new character that the API
 * server still escapes.
 */

/** Same as Go's unicode.IsPrint: letters, marks, numbers, punctuation, symbols and the ASCII space. */
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

/** Quotes one byte as a character in single quotes, as encoding/json does in syntax errors. */
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
  // Go replaces half of a surrogate pair with U+FFFD.
  if (code >= 0xd800 && code <= 0xdfff) return "\ufffd";
  if (isPrintable(character)) return character;
  if (code < 0x80) return `\\x${hex(code, 2)}`;
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

const hex = (code: number, digits: number) => code.toString(16).padStart(digits, "0");
