/** test/processes/operate/json-path.test.ts compares the same templates with kubectl. */
import { expect, it } from "vitest";
import { parseJsonPath, printJsonPath } from "./json-path.ts";

const data = {
  kind: "List",
  items: [
    { name: "billing", leader: "pod-a", transitions: 3, labels: { "app.kubernetes.io/name": "b" } },
    { name: "reports", leader: null, transitions: 0, labels: {} },
    { name: "mail", leader: "pod-c", transitions: 12 },
  ],
};

it.each([
  ["{.kind}", "List"],
  [".kind", "List"],
  ["kind", "List"],
  ["{$.kind}", "List"],
  ["{.items[0].name}", "billing"],
  ["{.items[-1].name}", "mail"],
  ["{.items[*].name}", "billing reports mail"],
  ["{.items[0:2].name}", "billing reports"],
  ["{.items[1:].name}", "reports mail"],
  ["{.items[0,2].name}", "billing mail"],
  ["{.items[0]['name','leader']}", "billing pod-a"],
  ["{.items[0].labels['app\\.kubernetes\\.io/name']}", "b"],
  ["{.items[0].labels.app\\.kubernetes\\.io/name}", "b"],
  ["{.items[0].labels}", '{"app.kubernetes.io/name":"b"}'],
  ["{..name}", "billing reports mail"],
  ['{.items[?(@.leader=="pod-c")].name}', "mail"],
  ["{.items[?(@.transitions>2)].name}", "billing mail"],
  ["{.items[?(@.transitions<=3)].name}", "billing reports"],
  ["{.items[?(@.labels)].name}", "billing reports"],
  ['{range .items[*]}{.name}={.transitions}{"\\n"}{end}', "billing=3\nreports=0\nmail=12\n"],
  ["leads: {.items[0].leader}, missing: {.items[0].nothing}.", "leads: pod-a, missing: ."],
  ['{range .items[*]}{@.name}{"\\t"}{end}', "billing\treports\tmail\t"],
])("%s", (template, expected) => {
  expect(printJsonPath(template, data)).toBe(expected);
});

it.each([
  ["{.items", "has no closing brace"],
  ["{range .items[*]}{.name}", "{range} has no {end}"],
  ["{end}", "{end} has no {range}"],
  ["{.items[}", "cannot go on with"],
  ["{.items[x]}", "[x] is neither an index"],
])("%s is not a template: %s", (template, why) => {
  expect(parseJsonPath(template)).toEqual({ problem: expect.stringContaining(why) });
});
