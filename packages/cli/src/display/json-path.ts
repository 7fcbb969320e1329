/**
 * JSONPath templates as kubectl understands them: text outside of braces is printed as it is, and each `{…}` is a path, a quoted
 * text, or `range` and `end`. Paths have fields (`.a`, `['a.b']`), indexes and slices (`[0]`, `[-1]`, `[0:2]`), unions (`[0,2]`), all
 * elements (`[*]`, `.*`), any depth (`..a`) and filters (`[?(@.a=="b")]`). Several results are separated by a blank. A field that
 * is missing prints nothing, as with `--allow-missing-template-keys` of kubectl, which is its default.
 */

type Step =
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "all" }
  | { readonly kind: "deep" }
  | { readonly kind: "index"; readonly index: number }
  | { readonly kind: "slice"; readonly from?: number; readonly to?: number; readonly by: number }
  | { readonly kind: "union"; readonly steps: readonly Step[] }
  | {
      readonly kind: "filter";
      readonly left: Operand;
      readonly operator?: Operator;
      readonly right?: Operand;
    };

type Operator = "==" | "!=" | "<=" | ">=" | "<" | ">";
type Operand = { readonly path: readonly Step[] } | { readonly value: unknown };

type Node =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "path"; readonly path: readonly Step[] }
  | { readonly kind: "range"; readonly path: readonly Step[]; readonly body: readonly Node[] };

export type ParsedTemplate = { readonly nodes: readonly Node[] } | { readonly problem: string };

class TemplateProblem extends Error {}

export function parseJsonPath(template: string): ParsedTemplate {
  try {
    const nodes: Node[] = [];
    const open: { path: readonly Step[]; body: Node[] }[] = [];
    // kubectl adds the braces if there are none.
    const whole = /[{}]/.test(template) ? template : `{${template.startsWith(".") ? "" : "."}${template}}`;
    for (const part of partsOf(whole)) {
      const body = open.at(-1)?.body ?? nodes;
      if (!part.isCode) body.push({ kind: "text", text: part.text });
      else if (/^range\s/.test(part.text)) {
        open.push({ path: parsePath(part.text.slice(6).trim()), body: [] });
      } else if (part.text === "end") {
        const range = open.pop();
        if (!range) throw new TemplateProblem("{end} has no {range}");
        (open.at(-1)?.body ?? nodes).push({ kind: "range", ...range });
      } else if (/^["']/.test(part.text)) body.push({ kind: "text", text: unquote(part.text) });
      else body.push({ kind: "path", path: parsePath(part.text) });
    }
    if (open.length > 0) throw new TemplateProblem("{range} has no {end}");
    return { nodes };
  } catch (error) {
    if (error instanceof TemplateProblem) return { problem: `${error.message}.` };
    throw error;
  }
}

/** Prints the template with these data. Throws if the template is not valid: check it with `parseJsonPath` first. */
export function printJsonPath(template: string, data: unknown): string {
  const parsed = parseJsonPath(template);
  if ("problem" in parsed) throw new Error(parsed.problem);
  return print(parsed.nodes, data, data);
}

function print(nodes: readonly Node[], here: unknown, root: unknown): string {
  return nodes
    .map((node) => {
      if (node.kind === "text") return node.text;
      const found = select([here], node.path);
      if (node.kind === "path") return found.map(textOf).join(" ");
      // kubectl repeats the body for every element of a list, and for every result of a path with several.
      const items = found.length === 1 && Array.isArray(found[0]) ? (found[0] as unknown[]) : found;
      return items.map((item) => print(node.body, item, root)).join("");
    })
    .join("");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : value === null ? "" : JSON.stringify(sorted(value));
}

/** With the keys in the order of kubectl. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}

function select(values: readonly unknown[], path: readonly Step[]): unknown[] {
  let found = [...values];
  for (const step of path) found = found.flatMap((value) => follow(value, step));
  return found;
}

function follow(value: unknown, step: Step): unknown[] {
  switch (step.kind) {
    case "field":
      return isObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
    case "all":
      return Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
    case "deep":
      return everyValue(value);
    case "index": {
      const item: unknown = Array.isArray(value) ? value.at(step.index) : undefined;
      return item === undefined ? [] : [item];
    }
    case "slice": {
      if (!Array.isArray(value)) return [];
      return value.slice(step.from ?? 0, step.to ?? value.length).filter((_, index) => index % step.by === 0);
    }
    case "union":
      return step.steps.flatMap((each) => follow(value, each));
    case "filter":
      return (Array.isArray(value) ? value : []).filter((item) => passes(item, step));
  }
}

function passes(item: unknown, { left, operator, right }: Extract<Step, { kind: "filter" }>): boolean {
  const [a] = valuesOf(left, item);
  if (operator === undefined || right === undefined) return valuesOf(left, item).length > 0;
  const [b] = valuesOf(right, item);
  if (a === undefined || b === undefined) return false;
  switch (operator) {
    case "==":
      return a === b;
    case "!=":
      return a !== b;
    default:
      if (typeof a !== typeof b || (typeof a !== "number" && typeof a !== "string")) return false;
      return compare(a, b as typeof a, operator);
  }
}

function compare<T extends number | string>(a: T, b: T, operator: Operator): boolean {
  if (operator === "<") return a < b;
  if (operator === "<=") return a <= b;
  return operator === ">" ? a > b : a >= b;
}

const valuesOf = (operand: Operand, item: unknown): unknown[] =>
  "path" in operand ? select([item], operand.path) : [operand.value];

function everyValue(value: unknown): unknown[] {
  const inside = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  return [value, ...inside.flatMap(everyValue)];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Text outside of braces, and code inside of them. A brace in a quoted text does not count. */
function* partsOf(template: string): Generator<{ isCode: boolean; text: string }> {
  let at = 0;
  while (at < template.length) {
    const start = template.indexOf("{", at);
    if (start !== at) yield { isCode: false, text: template.slice(at, start < 0 ? undefined : start) };
    if (start < 0) return;
    const [code = ""] =
      /^\{(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^{}"'])*\}/.exec(template.slice(start)) ?? [];
    if (code === "") throw new TemplateProblem(`"${template.slice(start)}" has no closing brace`);
    yield { isCode: true, text: code.slice(1, -1).trim() };
    at = start + code.length;
  }
}

const stepPatterns: readonly [RegExp, (match: RegExpExecArray) => Step][] = [
  [/^\.\.(?=[^\s.])/, () => ({ kind: "deep" })],
  [/^(?:\.\*|\[\*\])/, () => ({ kind: "all" })],
  [
    /^\.?((?:\\.|[^\s.[\](){}'",;|$@=<>!?*\\])+)/,
    ([, name = ""]) => ({ kind: "field", name: name.replace(/\\(.)/g, "$1") }),
  ],
  [/^\[\?\((.*?)\)\]/, ([, condition = ""]) => parseFilter(condition)],
  [/^\[([^\]]*)\]/, ([, inside = ""]) => parseBrackets(inside)],
];

function parsePath(text: string): Step[] {
  const steps: Step[] = [];
  let rest = text.replace(/^[$@]/, "");
  // `{.}` and `{@}` are the whole value.
  if (rest === ".") return steps;
  while (rest !== "") {
    const step = nextStep(rest, steps.length === 0 || steps.at(-1)?.kind === "deep");
    if (!step) throw new TemplateProblem(`"${text}" is not a path: it cannot go on with "${rest}"`);
    steps.push(step[0]);
    rest = rest.slice(step[1]);
  }
  return steps;
}

function nextStep(rest: string, mayBeBare: boolean): [Step, number] | undefined {
  for (const [pattern, read] of stepPatterns) {
    const match = pattern.exec(rest);
    if (!match) continue;
    // `a` alone is a field only where a path begins.
    if (!mayBeBare && !/^[.[]/.test(match[0])) continue;
    return [read(match), match[0].length];
  }
  return undefined;
}

function parseBrackets(inside: string): Step {
  const items = inside.match(/'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^,]+/g) ?? [];
  const steps = items.map((item) => parseSubscript(item.trim()));
  const [only] = steps;
  if (!only) throw new TemplateProblem("[] has nothing between its brackets");
  return steps.length === 1 ? only : { kind: "union", steps };
}

function parseSubscript(text: string): Step {
  if (/^['"]/.test(text)) return { kind: "field", name: unquote(text) };
  if (text === "*") return { kind: "all" };
  if (/^-?\d+$/.test(text)) return { kind: "index", index: Number(text) };
  const slice = /^(-?\d*):(-?\d*)(?::(\d+))?$/.exec(text);
  if (!slice) throw new TemplateProblem(`[${text}] is neither an index, a slice, a quoted name nor a filter`);
  const [, from, to, by] = slice;
  if (by !== undefined && Number(by) === 0) throw new TemplateProblem(`[${text}] has a step of 0`);
  return {
    kind: "slice",
    by: Number(by ?? 1),
    ...(from ? { from: Number(from) } : {}),
    ...(to ? { to: Number(to) } : {}),
  };
}

function parseFilter(condition: string): Step {
  const [, left = condition, operator, right] =
    /^\s*(\S.*?)\s*(==|!=|<=|>=|<|>)\s*(.*\S)\s*$/.exec(condition) ?? [];
  return {
    kind: "filter",
    left: parseOperand(left.trim()),
    ...(operator !== undefined && { operator: operator as Operator }),
    ...(right !== undefined && { right: parseOperand(right) }),
  };
}

function parseOperand(text: string): Operand {
  if (/^['"]/.test(text)) return { value: unquote(text) };
  if (/^-?\d+(\.\d+)?$/.test(text)) return { value: Number(text) };
  if (text === "true" || text === "false") return { value: text === "true" };
  return { path: parsePath(text) };
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };

function unquote(text: string): string {
  const quote = text[0] as string;
  if (text.length < 2 || !text.endsWith(quote)) throw new TemplateProblem(`${text} has no closing quote`);
  return text.slice(1, -1).replace(/\\(.)/g, (_, letter: string) => escapes[letter] ?? letter);
}
