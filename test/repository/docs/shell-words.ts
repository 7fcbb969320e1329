/**
 * Splits shell code into commands and words. It knows what the docs use: quotes, continued lines, comments, pipes, lists and
 * assignments. It expands nothing.
 */

const separators = new Set(["|", "||", "&&", ";", "&", "\n", "do", "done", "then", "else", "fi"]);

/** Each command without its assignments, redirections and `exec`. */
export function commandsIn(code: string): string[][] {
  const commands: string[][] = [[]];
  for (const word of wordsOf(code)) {
    if (separators.has(word)) commands.push([]);
    else (commands.at(-1) as string[]).push(word);
  }
  return commands.map(withoutPreamble).filter((words) => words.length > 0);
}

function withoutPreamble(words: readonly string[]): string[] {
  const start = words.findIndex(
    (word) => !/^[A-Za-z_]\w*=/.test(word) && !["exec", "while", "until", "if"].includes(word),
  );
  if (start < 0) return [];
  const rest = words.slice(start);
  const redirection = rest.findIndex((word) => /^\d?>/.test(word));
  return redirection < 0 ? rest : rest.slice(0, redirection);
}

function wordsOf(code: string): string[] {
  const words: string[] = [];
  const pattern =
    /\\\n|#[^\n]*|\d?>&\d|(\n|\|\||&&|[|;&])|((?:'[^']*'|"(?:\\.|[^"\\])*"|\$\([^)]*\)|\\.|[^\s'"|;&\\])+)|\s/g;
  let isStart = true;
  for (const match of code.matchAll(pattern)) {
    const [whole, separator, word] = match;
    if (separator) words.push(separator);
    // A # begins a comment only at the start of a word.
    else if (word !== undefined) words.push(unquoted(word));
    else if (whole.startsWith("#") && !isStart) words.push(whole);
    isStart = separator !== undefined || /^\s|^\\\n/.test(whole);
  }
  return words;
}

const unquoted = (word: string) =>
  word.replace(/'([^']*)'|"((?:\\.|[^"\\])*)"/g, (_, single, double) => single ?? double);
