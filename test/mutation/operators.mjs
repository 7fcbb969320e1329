/**
 * The small mistakes that are planted, by kind of syntax. Each function gets a node and returns the texts that replace its own.
 * `text(node)` is the source of a node.
 */
import { constantOf, isProse, joinsStrings, unwrap } from "./syntax.mjs";

const swapped = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "===": ["!=="],
  "!==": ["==="],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["*"],
};

const swappedAssignments = {
  __proto__: null,
  "+=": "-=",
  "-=": "+=",
  "*=": "/=",
  "/=": "*=",
  "??=": "=",
  "||=": "&&=",
};

const swappedMethods = {
  __proto__: null,
  some: "every",
  every: "some",
  startsWith: "endsWith",
  endsWith: "startsWith",
  toLowerCase: "toUpperCase",
  toUpperCase: "toLowerCase",
};

/** `list.filter(f)` becomes `list`. */
const droppedMethods = new Set([
  "filter",
  "slice",
  "trim",
  "trimEnd",
  "sort",
  "toSorted",
  "reverse",
  "replace",
  "replaceAll",
]);

const swappedMath = {
  __proto__: null,
  min: "max",
  max: "min",
  floor: "ceil",
  ceil: "floor",
};

export const expressionOperators = {
  BinaryExpression(node, text) {
    const constant = constantOf(node);
    if (constant !== undefined) return numbersNear(constant);
    if (node.operator === "+" && (joinsStrings(node.left) || joinsStrings(node.right))) return [];
    return (swapped[node.operator] ?? []).map(
      (operator) => `${text(node.left)} ${operator} ${text(node.right)}`,
    );
  },

  LogicalExpression(node, text, parent) {
    const [left, right] = [text(node.left), text(node.right)];
    // Without its condition, `...(x && { x })` only adds a property that is undefined.
    const isOptionalProperty =
      parent?.type === "SpreadElement" && unwrap(node.right).type === "ObjectExpression";
    if (isOptionalProperty && node.operator === "&&") return [left];
    if (node.operator === "??") return [left, right];
    return [`(${left}) ${node.operator === "&&" ? "||" : "&&"} (${right})`, left, right];
  },

  UnaryExpression(node, text) {
    return node.operator === "!" || node.operator === "-" ? [text(node.argument)] : [];
  },

  UpdateExpression(node, text) {
    return [text(node).replace(/\+\+|--/, (operator) => (operator === "++" ? "--" : "++"))];
  },

  AssignmentExpression(node, text) {
    const operator = swappedAssignments[node.operator];
    return operator ? [`${text(node.left)} ${operator} ${text(node.right)}`] : [];
  },

  Literal(node) {
    if (typeof node.value === "boolean") return [String(!node.value)];
    if (node.bigint !== undefined)
      return node.value === 0n ? ["1n"] : [`${node.value + 1n}n`, `${node.value - 1n}n`];
    if (typeof node.value === "number") return numbersNear(node.value);
    if (typeof node.value === "string" && !isProse(node)) return [node.value === "" ? '"mutated"' : '""'];
    return [];
  },

  TemplateLiteral(node) {
    return isProse(node) ? [] : ['""'];
  },

  CallExpression(node, text) {
    const { callee } = node;
    if (callee.type !== "MemberExpression" || callee.computed || node.optional || callee.optional) return [];
    const { name } = callee.property;
    const [object, args] = [text(callee.object), node.arguments.map(text).join(", ")];
    if (object === "Math" && swappedMath[name]) return [`Math.${swappedMath[name]}(${args})`];
    if (droppedMethods.has(name)) return [object];
    return swappedMethods[name] ? [`${object}.${swappedMethods[name]}(${args})`] : [];
  },
};

/** Off by one for the smallest numbers, which count things. Half and double for the others, which measure them. */
function numbersNear(value) {
  if (value === 0) return ["1"];
  if (value <= 2 && Number.isInteger(value)) return [String(value + 1), String(value - 1)];
  return [String(value * 2), String(Number.isInteger(value) ? Math.floor(value / 2) : value / 2)];
}
