import { expect, it } from "vitest";
import { paintFor } from "../../display/paint.ts";
import { finding, ok, printReport, skipped, summary } from "./report.ts";

const plain = paintFor({ isTerminal: false, env: () => undefined } as unknown as Parameters<
  typeof paintFor
>[0]);

it("prints the fix in words, and a command of several lines so that it can be pasted", () => {
  const fix = { fix: "grant it:\nrules: []", command: "kubectl apply -f - <<'EOF'\nkind: Role\nEOF" };
  expect(printReport(finding("rights", "x may not y", fix, "prod/billing"), plain)).toBe(
    [
      "✗ rights       prod/billing: x may not y",
      "    fix: grant it:",
      "         rules: []",
      "    run: kubectl apply -f - <<'EOF'",
      "kind: Role",
      "EOF",
      "",
    ].join("\n"),
  );
});

it("prints no control characters that come from the cluster", () => {
  expect(printReport(finding("x", "a", "see \u001b[2J"), plain)).not.toContain("\u001b");
});

const command = { fix: "label it", command: "kubectl label pod a" };
it.each([
  [[ok("a", "fine")], "pod", "No problems found.\n"],
  [[skipped("a", "denied")], "machine", "No problems found, 1 skipped.\n"],
  [[finding("a", "wrong", command)], "machine", "1 finding.\n"],
  [
    [finding("a", "wrong", command)],
    "pod",
    "Run the kubectl commands where you have kubectl and the rights, not in this pod.\n1 finding.\n",
  ],
  [[finding("a", "wrong", "think")], "pod", "1 finding.\n"],
] as const)("sums up %j in a %s", (reports, where, text) => expect(summary(reports, where)).toBe(text));
