/**
 * Field selectors, such as `metadata.name=x,status.phase!=Running`. They can use only the fields that a kind
 * declares.
 */
import type { Kind } from "./kind.ts";
import type { ApiObject } from "./object.ts";
import { quote } from "./quote.ts";
import { badRequest } from "./status.ts";

interface FieldSelector {
  test(object: ApiObject): boolean;
  /** The only name that can match, if the selector fixes it. The caller then needs to look at one object only. */
  name: string | undefined;
}

export function parseFieldSelector(text: string, kind: Kind): FieldSelector {
  const tests: ((object: ApiObject) => boolean)[] = [];
  let name: string | undefined;
  for (const term of text.split(/(?<!\\),/).filter((part) => part !== "")) {
    const match = /^(.*?)(!=|==|=)(.*)$/.exec(term);
    if (match === null) {
      throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    }
    const [, label, operator, raw] = match as unknown as [string, string, string, string];
    const value = raw.replace(/\\([,=\\])/g, "$1");
    const read = reader(label, kind);
    tests.push((object) => (read(object) === value) === (operator !== "!="));
    if (label === "metadata.name" && operator !== "!=") name = value;
  }
  return { test: (object) => tests.every((test) => test(object)), name };
}

function reader(label: string, kind: Kind): (object: ApiObject) => string {
  if (label === "metadata.name") return (object) => object.metadata.name ?? "";
  if (label === "metadata.namespace") return (object) => object.metadata.namespace ?? "";
  const { selectable } = kind;
  if (selectable && Object.hasOwn(selectable, label))
    return selectable[label] as (object: ApiObject) => string;
  throw badRequest(
    kind.selectable
      ? `field label not supported: ${label}`
      : `${quote(label)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
  );
}
