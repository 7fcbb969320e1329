/** Helpers to walk the syntax tree of a TypeScript file without its types. */
import { parseSync } from "rolldown/utils";

/** Parts of a node that hold only types, or names that no run evaluates. */
const typeKeys = new Set([
  "typeAnnotation",
  "returnType",
  "typeParameters",
  "typeArguments",
  "superTypeArguments",
  "implements",
]);

const wrappers = new Set([
  "ParenthesizedExpression",
  "TSAsExpression",
  "TSNonNullExpression",
  "TSSatisfiesExpression",
]);

export function parse(path, text) {
  const { program, errors } = parseSync(path, text, { lang: "ts" });
  if (errors.length > 0) throw new Error(`cannot parse ${path}: ${errors[0].message}`);
  return program;
}

const isNode = (value) => typeof value?.type === "string";

/** Calls visit(node, parents) for every node that is code, outer nodes first. The children are left out if it returns false. */
export function walk(node, visit, parents = []) {
  if (visit(node, parents) === false) return;
  for (const child of childrenOf(node)) walk(child, visit, [...parents, node]);
}

function childrenOf(node) {
  if (/^(Import|ExportAll)Declaration$|^ImportExpression$/.test(node.type)) return [];
  if (wrappers.has(node.type)) return [node.expression];
  if (node.type.startsWith("TS")) return [];
  return Object.entries(node)
    .filter(([key]) => !typeKeys.has(key) && !isPlainName(node, key))
    .flatMap(([, value]) => value)
    .filter(isNode);
}

/** Whether this part of the node is a name, which may be written as a string, and not an expression. */
function isPlainName(node, key) {
  if (node.computed) return false;
  if (key === "key" || key === "source") return true;
  return key === "property" && node.type === "MemberExpression";
}

/** The expression inside of parentheses, `as`, `!` and `satisfies`. */
export function unwrap(node) {
  return wrappers.has(node.type) ? unwrap(node.expression) : node;
}

/** Text for people: a string in which a blank separates words. Error messages, log lines and rules are such text. */
export function isProse(node) {
  const inner = unwrap(node);
  if (inner.type === "Literal") return typeof inner.value === "string" && /\S\s+\S/.test(inner.value);
  if (inner.type === "TemplateLiteral") {
    return /\S\s+\S/.test(inner.quasis.map(({ value }) => value.cooked).join("x"));
  }
  if (inner.type === "BinaryExpression" && inner.operator === "+") {
    return isProse(inner.left) || isProse(inner.right);
  }
  if (inner.type === "ConditionalExpression") return isProse(inner.consequent) && isProse(inner.alternate);
  return false;
}

/** Whether a + b may join strings, as far as the text shows. */
export function joinsStrings(node) {
  const inner = unwrap(node);
  if (inner.type === "TemplateLiteral") return true;
  if (inner.type === "Literal") return typeof inner.value === "string";
  if (inner.type === "BinaryExpression") return joinsStrings(inner.left) || joinsStrings(inner.right);
  return false;
}

/** The value of a calculation with nothing but numbers, for example 64 * 1024. */
export function constantOf(node) {
  const inner = unwrap(node);
  if (inner.type === "Literal") return typeof inner.value === "number" ? inner.value : undefined;
  if (inner.type !== "BinaryExpression") return undefined;
  const [left, right] = [constantOf(inner.left), constantOf(inner.right)];
  if (left === undefined || right === undefined) return undefined;
  return { "*": left * right, "/": left / right, "+": left + right, "-": left - right, "**": left ** right }[
    inner.operator
  ];
}
