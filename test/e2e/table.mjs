// @ts-check
/** The results of the end-to-end tests as a table for people. */

/**
 * @param {string} title
 * @param {readonly import("./run-specs.mjs").Result[]} results
 * @param {Readonly<Record<string, string>>} [cannot] the reasons of specs that were not run
 */
export function table(title, results, cannot = {}) {
  const rows = results.map(({ spec, outcome, seconds, reason }) =>
    [
      outcome.padEnd(8),
      seconds.toFixed(1).padStart(6),
      ` ${spec}${reason ? `\n${" ".repeat(16)}${reason}` : ""}`,
    ].join(""),
  );
  const left = Object.entries(cannot).map(
    ([spec, reason]) => `${"not run".padEnd(14)} ${spec}\n${" ".repeat(16)}${reason}`,
  );
  const passed = results.filter(({ outcome }) => outcome === "passed").length;
  const summary = `${passed} of ${results.length} passed${left.length > 0 ? `, ${left.length} not run` : ""}`;
  return [`\n${title}: ${summary}`, "result  seconds spec", ...rows, ...left].join("\n");
}
