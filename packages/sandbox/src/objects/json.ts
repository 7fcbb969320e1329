/**
 * Parses JSON as the API server does. Unlike JSON.parse it reports duplicate fields, and its syntax errors have the
 * wording of Go's encoding/json, because that is the text that users search for.
 */
import { type JsonObject, put } from "./object.ts";
import { quoteByte } from "./quote.ts";

/** Deeper than any kind needs, and shallow enough that no recursion over the result overflows the stack. */
const maxDepth = 1000;

export class JsonSyntaxError extends Error {
  override readonly name = "JsonSyntaxError";
}

interface ParsedJson {
  value: unknown;
  /** Paths of fields that occur more than once in one object. The last value wins. */
  duplicates: string[];
  /** Numbers whose text matters, by path: an integer field accepts 10, but not 1e1 or 10.0. */
  literals: ReadonlyMap<string, string>;
}

export function parseJson(text: string): ParsedJson {
  const compact = parseCompact(text);
  if (compact !== undefined) return { value: compact, duplicates: [], literals: noLiterals };
  const reader = new Reader(text);
  const value = reader.document();
  return { value, duplicates: reader.duplicates, literals: reader.literals };
}

const noLiterals: ReadonlyMap<string, string> = new Map();

/**
 * Reads what an encoder wrote: without spaces, without duplicate fields, and with every number in its shortest form. Such a text is
 * exactly what JSON.stringify makes of its value. JSON.parse then reads it as Reader does, and in a fraction of the time. Undefined for
 * any other text.
 */
function parseCompact(text: string): unknown {
  // An escape may be half of a surrogate pair, and so many digits may not fit into a number.
  if (/\\u|\d{16}/.test(text)) return undefined;
  // Encoders of Go end with a newline.
  const document = text.endsWith("\n") ? text.slice(0, -1) : text;
  try {
    const value: unknown = JSON.parse(document);
    return isNested(value, maxDepth) && JSON.stringify(value) === document ? value : undefined;
  } catch {
    // Reader finds the same mistake, and words it as Go does.
    return undefined;
  }
}

/** Whether a value is nested at most `depth` times. */
function isNested(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (depth === 0) return false;
  for (const child of Object.values(value)) if (!isNested(child, depth - 1)) return false;
  return true;
}

/**
 * Where the keys of a document are, by path: how many keys come before it. For a key that occurs more than once, the
 * last place. Parses the document again, because only a few error messages need this.
 */
export function keyPlaces(text: string): Map<string, number> {
  const places = new Map<string, number>();
  let count = 0;
  const reader = new Reader(text, (path) => places.set(path, count++));
  reader.document();
  return places;
}

/** Integers with more digits may not fit into 64 bits. */
const maxExactDigits = 15;

class Reader {
  readonly duplicates: string[] = [];
  readonly literals = new Map<string, string>();
  readonly #text: string;
  readonly #onKey: ((path: string) => void) | undefined;
  #position = 0;
  #depth = 0;

  constructor(text: string, onKey?: (path: string) => void) {
    this.#text = text;
    this.#onKey = onKey;
  }

  document(): unknown {
    const value = this.#value("");
    this.#space();
    if (this.#position < this.#text.length) this.#fail("after top-level value");
    return value;
  }

  #value(path: string): unknown {
    this.#space();
    switch (this.#text[this.#position]) {
      case "{":
        return this.#nested(() => this.#object(path));
      case "[":
        return this.#nested(() => this.#array(path));
      case '"':
        return this.#string();
      case "t":
        return this.#literal("true", true);
      case "f":
        return this.#literal("false", false);
      case "n":
        return this.#literal("null", null);
      default:
        return this.#number(path);
    }
  }

  #nested<T>(read: () => T): T {
    if (++this.#depth > maxDepth) throw new JsonSyntaxError("exceeded max depth");
    this.#position++;
    const value = read();
    this.#depth--;
    return value;
  }

  #object(path: string): JsonObject {
    const object: JsonObject = {};
    this.#space();
    if (this.#take("}")) return object;
    for (;;) {
      this.#space();
      if (this.#text[this.#position] !== '"') this.#fail("looking for beginning of object key string");
      const key = this.#string();
      const child = path === "" ? key : `${path}.${key}`;
      if (Object.hasOwn(object, key)) this.duplicates.push(child);
      this.#onKey?.(child);
      this.#space();
      if (!this.#take(":")) this.#fail("after object key");
      put(object, key, this.#value(child));
      this.#space();
      if (this.#take("}")) return object;
      if (!this.#take(",")) this.#fail("after object key:value pair");
    }
  }

  #array(path: string): unknown[] {
    const items: unknown[] = [];
    this.#space();
    if (this.#take("]")) return items;
    for (;;) {
      items.push(this.#value(`${path}[${items.length}]`));
      this.#space();
      if (this.#take("]")) return items;
      if (!this.#take(",")) this.#fail("after array element");
    }
  }

  #string(): string {
    const start = this.#position++;
    for (; ; this.#position++) {
      const code = this.#text.charCodeAt(this.#position);
      if (code === 0x22) break;
      if (Number.isNaN(code)) this.#fail("");
      if (code < 0x20) this.#fail("in string literal");
      if (code === 0x5c) this.#escape();
    }
    const text = JSON.parse(this.#text.slice(start, ++this.#position)) as string;
    return text.replace(/\p{Cs}/gu, "\ufffd");
  }

  #escape(): void {
    const code = this.#text[++this.#position];
    if (code === "u") {
      for (let digit = 0; digit < 4; digit++) {
        this.#position++;
        if (!/[0-9a-fA-F]/.test(this.#text[this.#position] ?? ""))
          this.#fail("in \\u hexadecimal character escape");
      }
    } else if (code === undefined || !'"\\/bfnrt'.includes(code)) {
      this.#fail("in string escape code");
    }
  }

  #number(path: string): number {
    const pattern = /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
    pattern.lastIndex = this.#position;
    const match = pattern.exec(this.#text);
    if (match === null) {
      if (this.#text[this.#position] !== "-") this.#fail("looking for beginning of value");
      this.#position++;
      this.#fail("in numeric literal");
    }
    const [literal] = match as RegExpExecArray;
    this.#position += literal.length;
    if (/[.eE]/.test(literal) || literal.length > maxExactDigits) this.literals.set(path, literal);
    return Number(literal);
  }

  #literal<T>(word: string, value: T): T {
    for (const letter of word) {
      if (this.#text[this.#position] !== letter) this.#fail(`in literal ${word} (expecting '${letter}')`);
      this.#position++;
    }
    return value;
  }

  #take(character: string): boolean {
    if (this.#text[this.#position] !== character) return false;
    this.#position++;
    return true;
  }

  #space(): void {
    while (" \t\n\r".includes(this.#text[this.#position] ?? "x")) this.#position++;
  }

  #fail(where: string): never {
    const character = this.#text[this.#position];
    if (character === undefined) throw new JsonSyntaxError("unexpected end of JSON input");
    const byte = Buffer.from(this.#text.slice(this.#position, this.#position + 2))[0] as number;
    throw new JsonSyntaxError(`invalid character ${quoteByte(byte)} ${where}`);
  }
}
