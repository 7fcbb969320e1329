/**
 * Finds the places of a source file where a small mistake can be planted, and writes the file with all of them, each behind a
 * switch. A mutant is one such mistake. The file is compiled once, and `__mutant(id)` says which mistake is active.
 */
import { expressionOperators } from "./operators.mjs";
import { constantOf, isProse, parse, unwrap, walk } from "./syntax.mjs";

/** @typedef {{ index: number, kind: string, line: number, original: string, mutated: string, runsOnce: boolean }} Mutant */

/** The mutants of a file, without an id of the whole package, in the order of the text. */
export function findMutants(path, source) {
  return findPlaces(path, source).flatMap(({ mutants }) => mutants);
}

/** The source with every chosen mutant behind its switch. `idOf(index)` is undefined for a mutant that was not chosen. */
export function instrument(path, source, idOf) {
  const insertions = [];
  findPlaces(path, source).forEach((place, order) => {
    const chosen = place.mutants
      .map((mutant) => ({ ...mutant, id: idOf(mutant.index) }))
      .filter(({ id }) => id !== undefined);
    if (chosen.length === 0) return;
    const [prefix, suffix] = place.write(chosen);
    insertions.push({ at: place.start, text: prefix, isEnd: false, order });
    insertions.push({ at: place.end, text: suffix, isEnd: true, order });
  });
  // At one position: ends before starts, inner ends before outer ones, outer starts before inner ones.
  insertions.sort(
    (a, b) => a.at - b.at || b.isEnd - a.isEnd || (a.isEnd ? b.order - a.order : a.order - b.order),
  );
  let result = "";
  let from = 0;
  for (const { at, text } of insertions) {
    result += source.slice(from, at) + text;
    from = at;
  }
  return result + source.slice(from);
}

const isOn = ({ id }) => `globalThis.__mutant(${id})`;

const writeExpression = (mutants) => [
  `(${mutants.map((mutant) => `${isOn(mutant)}?(${mutant.mutated}):`).join("")}(`,
  "))",
];
const writeStatement = ([mutant]) => [`if(${isOn(mutant)});else `, ""];
const writeProperty = ([mutant]) => [`...(${isOn(mutant)}?{}:{`, "})"];
const writeItem = ([mutant]) => [`...(${isOn(mutant)}?[]:[`, "])"];

function findPlaces(path, source) {
  const places = [];
  const text = (node) => source.slice(node.start, node.end);
  const lineOf = (offset) => source.slice(0, offset).split("\n").length;
  let count = 0;
  const add = (node, parents, kind, mutated, write) => {
    if (mutated.length === 0) return;
    const line = lineOf(node.start);
    const mutants = mutated.map((replacement) => ({
      index: count++,
      kind,
      line,
      original: text(node),
      mutated: replacement,
      runsOnce: runsOnce(parents),
    }));
    places.push({ start: node.start, end: node.end, mutants, write });
  };
  walk(parse(path, source), (node, parents) => {
    // Text for people is not mutated, nor what it is made of.
    if (node.type === "TemplateLiteral" && isProse(node)) return false;
    addPart(node, parents, add);
    addExpression(node, parents, text, add);
    addStatement(node, parents, add);
    // A calculation with nothing but numbers is one number.
    return node.type !== "BinaryExpression" || constantOf(node) === undefined;
  });
  return places;
}

function addExpression(node, parents, text, add) {
  const parent = parents.at(-1);
  if (parent?.type === "ExpressionStatement" && "directive" in parent && parent.directive) return;
  const mutated = [];
  if (isTest(node, parent)) mutated.push(...(isLoop(parent) ? ["false"] : ["true", "false"]));
  if (isOptionalResult(node, parents)) mutated.push("undefined");
  if (node.type === "ChainExpression") mutated.push(...withoutQuestionMarks(node, text));
  if (node.type !== "CallExpression" || !isInsideChain(node, parents)) {
    mutated.push(...(expressionOperators[node.type]?.(node, text, outerOf(parents)) ?? []));
  }
  if (
    parent?.type === "ArrowFunctionExpression" &&
    parent.body === node &&
    /^(Call|Await)Expression$/.test(node.type)
  ) {
    mutated.push("undefined");
  }
  add(
    node,
    parents,
    "expression",
    [...new Set(mutated)].filter((other) => other !== text(node)),
    writeExpression,
  );
}

/** Whether this code runs when its module is loaded, and never again. */
function runsOnce(parents) {
  return !parents.some(({ type }) => /Function|PropertyDefinition/.test(type));
}

/** The nearest node around that is more than parentheses or a type. */
function outerOf(parents) {
  return parents.findLast((node) => unwrap(node) === node);
}

const isLoop = (node) => /^(While|DoWhile|For)Statement$/.test(node.type);

function isTest(node, parent) {
  return parent?.test === node && (isLoop(parent) || /^(If|Conditional)/.test(parent.type));
}

/** The result of a function that may return undefined by its declared type. */
function isOptionalResult(node, parents) {
  const parent = parents.at(-1);
  if (parent?.type !== "ReturnStatement" || parent.argument !== node) return false;
  if (node.type === "Identifier" && node.name === "undefined") return false;
  const owner = parents.findLast(({ type }) => /Function/.test(type));
  const types = owner?.returnType?.typeAnnotation?.types ?? [];
  return types.some(({ type }) => type === "TSUndefinedKeyword");
}

/** `a?.b` becomes `a.b`, for each question mark. */
function withoutQuestionMarks(chain, text) {
  const mutated = [];
  for (let node = chain.expression; node; node = node.object ?? node.callee ?? node.expression) {
    if (!node.optional) continue;
    const inner = node.object ?? node.callee;
    const [before, after] = [
      text(chain).slice(0, inner.end - chain.start),
      text(chain).slice(inner.end - chain.start),
    ];
    mutated.push(
      before + (node.computed || node.callee ? after.replace("?.", "") : after.replace("?.", ".")),
    );
  }
  return mutated;
}

/** Parentheses around a part of `a?.b.c` would end its short circuit too early. */
function isInsideChain(node, parents) {
  let inner = node;
  for (const parent of parents.toReversed()) {
    if (parent.type === "ChainExpression") return inner !== node;
    if (inner !== parent.object && inner !== parent.callee && inner !== parent.expression) return false;
    inner = parent;
  }
  return false;
}

function addPart(node, parents, add) {
  const parent = parents.at(-1);
  // A property that is undefined is read like one that is missing.
  if (parent?.type === "ObjectExpression" && node.value?.name !== "undefined") {
    if (node.type === "SpreadElement") add(node.argument, parents, "property", ["{}"], writeExpression);
    // A property with a literal is mutated by its literal.
    else if (
      !node.method &&
      node.kind === "init" &&
      unwrap(node.value).type !== "Literal" &&
      !isProse(node.value)
    ) {
      add(node, parents, "property", ["(removed)"], writeProperty);
    }
  }
  if (parent?.type === "ArrayExpression" && !isProse(node)) {
    if (node.type === "SpreadElement") add(node.argument, parents, "item", ["[]"], writeExpression);
    else add(node, parents, "item", ["(removed)"], writeItem);
  }
}

function addStatement(node, parents, add) {
  const isRemovable =
    (node.type === "ExpressionStatement" && !node.directive && node.expression.callee?.type !== "Super") ||
    (node.type === "ReturnStatement" && !node.argument) ||
    /^(Throw|Break|Continue)Statement$/.test(node.type);
  if (isRemovable && !isLastJump(node, parents))
    add(node, parents, "statement", ["(removed)"], writeStatement);
}

/** A `break` at the end of its switch, or a `return` at the end of its function, jumps to where the code goes anyway. */
function isLastJump(node, parents) {
  if (node.type !== "BreakStatement" && node.type !== "ReturnStatement") return false;
  let inner = node;
  for (const parent of parents.toReversed()) {
    if (/Function/.test(parent.type)) return true;
    const list = parent.type === "SwitchStatement" ? parent.cases : (parent.body ?? parent.consequent);
    if (
      parent.type === "BlockStatement" ||
      parent.type === "SwitchCase" ||
      parent.type === "SwitchStatement"
    ) {
      if (list.at(-1) !== inner) return false;
      if (parent.type === "SwitchStatement" && node.type === "BreakStatement") return true;
    } else if (parent.type !== "IfStatement") return false;
    inner = parent;
  }
  return false;
}
