/** Label selectors in both forms: text in a query (`a=b,c!=d,e in (f,g),!h`), and fields of an object (matchLabels). */
import { isLabelValue, isQualifiedName } from "./name-rules.ts";
import { quote } from "./quote.ts";
import { badRequest } from "./status.ts";

export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

type Labels = Record<string, string>;
type LabelTest = (labels: Labels) => boolean;

export function matchesLabels(selector: LabelSelector, labels: Labels): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
      if (operator === "Exists") return value !== undefined;
      if (operator === "DoesNotExist") return value === undefined;
      if (operator === "In") return value !== undefined && values.includes(value);
      return value === undefined || !values.includes(value);
    })
  );
}

const keyPattern = String.raw`[^\s,!=()<>]+`;
const setPattern = new RegExp(String.raw`^\s*(${keyPattern})\s+(in|notin)\s*\(([^()]*)\)\s*(?:,|$)`);
const equalityPattern = new RegExp(String.raw`^\s*(${keyPattern})\s*(==|=|!=)\s*([^\s,!=()<>]*)\s*(?:,|$)`);
const orderPattern = new RegExp(String.raw`^\s*(${keyPattern})\s*(>|<)\s*(-?\d+)\s*(?:,|$)`);
const absentPattern = new RegExp(String.raw`^\s*!\s*(${keyPattern})\s*(?:,|$)`);
const presentPattern = new RegExp(String.raw`^\s*(${keyPattern})\s*(?:,|$)`);

export function parseLabelSelector(text: string): LabelTest {
  const tests: LabelTest[] = [];
  let rest = text;
  const has = (labels: Labels, key: string) => Object.hasOwn(labels, key);
  const take = (pattern: RegExp): string[] | undefined => {
    const match = pattern.exec(rest);
    if (match === null) return undefined;
    rest = rest.slice(match[0].length);
    checkKey(match[1] as string);
    return match.slice(1);
  };
  while (rest.trim() !== "") {
    let parts = take(setPattern);
    if (parts) {
      const [key, operator, list] = parts as [string, string, string];
      const values = list.split(",").map((value) => checkValue(value.trim(), key));
      tests.push(
        (labels) => (has(labels, key) && values.includes(labels[key] as string)) === (operator === "in"),
      );
      continue;
    }
    parts = take(equalityPattern);
    if (parts) {
      const [key, operator, value] = parts as [string, string, string];
      checkValue(value, key);
      tests.push((labels) => (has(labels, key) && labels[key] === value) === (operator !== "!="));
      continue;
    }
    parts = take(orderPattern);
    if (parts) {
      const [key, operator, value] = parts as [string, string, string];
      const limit = Number(value);
      const compare = (label: number) => (operator === ">" ? label > limit : label < limit);
      tests.push(
        (labels) => has(labels, key) && /^-?\d+$/.test(labels[key] as string) && compare(Number(labels[key])),
      );
      continue;
    }
    parts = take(absentPattern);
    if (parts) {
      const [key] = parts as [string];
      tests.push((labels) => !has(labels, key));
      continue;
    }
    parts = take(presentPattern);
    if (!parts) throw badRequest(parseErrorMessage(rest, rest !== text));
    const [key] = parts as [string];
    tests.push((labels) => has(labels, key));
  }
  return (labels) => tests.every((test) => test(labels));
}

/** The error message for the rest of a selector that cannot be parsed, in the wording of Kubernetes. */
function parseErrorMessage(rest: string, afterComma: boolean): string {
  const [, second] = /^\s*[^\s,!=()<>]+\s+([^\s,!=()<>]+)/.exec(rest) ?? [];
  const [, extra] = /^\s*[^\s,!=()<>]+\s*(?:==|=|!=)\s*[^\s,!=()<>]*\s+([^\s,]+)/.exec(rest) ?? [];
  if (second === "in" || second === "notin")
    return "unable to parse requirement: found '', expected: ',' or ')'";
  if (second) return `unable to parse requirement: found '${second}', expected: in, notin, =, ==, !=, gt, lt`;
  if (extra) return `found '${extra}', expected: ',' or 'end of string'`;
  const found = rest.trim().slice(0, 1);
  return afterComma && found === ","
    ? "found ',', expected: identifier after ','"
    : `found '${found}', expected: !, identifier, or 'end of string'`;
}

function checkKey(key: string): void {
  const [why] = isQualifiedName(key);
  if (why) throw badRequest(`unable to parse requirement: <nil>: Invalid value: ${quote(key)}: ${why}`);
}

function checkValue(value: string, key: string): string {
  const [why] = isLabelValue(value);
  if (why) {
    throw badRequest(
      `unable to parse requirement: values[0][${key}]: Invalid value: ${quote(value)}: ${why}`,
    );
  }
  return value;
}
