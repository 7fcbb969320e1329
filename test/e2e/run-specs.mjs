// @ts-check
/** Runs specs with e2e.test, several processes side by side, and reads their reports. */
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * @typedef {object} Result
 * @property {string} spec
 * @property {"passed" | "failed" | "skipped"} outcome
 * @property {number} seconds
 * @property {string} [reason] why it did not pass, in one line
 *
 * @typedef {object} GinkgoReport what e2e.test writes about one spec
 * @property {string[] | null} ContainerHierarchyTexts
 * @property {string} LeafNodeText
 * @property {string} State
 * @property {number} RunTime in nanoseconds
 * @property {{ Message?: string }} [Failure]
 */

const reasonLength = 200;

/** Specs that change the whole cluster run alone. @param {string} spec */
const isSerial = (spec) => /\[(Serial|Disruptive)\]/.test(spec);

/**
 * Divides specs into lists for processes that run side by side, and one list for the specs that run alone after them.
 *
 * @param {readonly string[]} specs
 * @param {number} processes
 */
export function divide(specs, processes) {
  /** @type {string[][]} */
  const lists = Array.from({ length: processes }, () => []);
  const shared = specs.filter((spec) => !isSerial(spec));
  for (const [index, spec] of shared.entries()) lists[index % processes]?.push(spec);
  return { together: lists.filter((list) => list.length > 0), alone: specs.filter(isSerial) };
}

/**
 * The results of the specs that were asked for. A spec that e2e.test did not report has failed.
 *
 * @param {readonly string[]} specs
 * @param {readonly { SpecReports?: GinkgoReport[] | null }[] | undefined} suites undefined if there is no report
 * @returns {Result[]}
 */
export function resultsOf(specs, suites) {
  const reports = suites?.flatMap(({ SpecReports }) => SpecReports ?? []) ?? [];
  const suiteFailure = reports.find(({ LeafNodeText, State }) => !LeafNodeText && State === "failed");
  return specs.map((spec) => {
    const report = reports.find((candidate) => fullName(candidate) === `${spec} [Conformance]`);
    if (!report || (report.State === "skipped" && suiteFailure)) {
      const reason = suiteFailure?.Failure?.Message ?? "e2e.test has no report of it; see its log";
      return { spec, outcome: "failed", seconds: 0, reason: oneLine(reason) };
    }
    const seconds = report.RunTime / 1e9;
    if (report.State === "passed") return { spec, outcome: "passed", seconds };
    const outcome = report.State === "skipped" ? "skipped" : "failed";
    return { spec, outcome, seconds, reason: oneLine(report.Failure?.Message || report.State) };
  });
}

/** @param {GinkgoReport} report */
const fullName = ({ ContainerHierarchyTexts, LeafNodeText }) =>
  [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(" ");

/** @param {string} text */
function oneLine(text) {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > reasonLength ? `${line.slice(0, reasonLength)}…` : line;
}

/**
 * @param {object} options
 * @param {string} options.program path of e2e.test
 * @param {string} options.kubeconfig
 * @param {readonly string[]} options.specs
 * @param {string} options.folder for reports and logs
 * @param {number} options.processes how many run side by side
 * @param {AbortSignal} options.signal starts nothing more
 * @param {(name: string, command: string, args: string[]) => Promise<void>} options.run runs a program to its end
 * @returns {Promise<Result[]>} in the order of the specs
 */
export async function runSpecs({ program, kubeconfig, specs, folder, processes, signal, run }) {
  const { together, alone } = divide(specs, processes);
  /** @param {string[]} list @param {number} index */
  const runList = async (list, index) => {
    const reports = join(folder, `reports-${index}`);
    await mkdir(reports, { recursive: true });
    const report = join(reports, "report.json");
    await run(`e2e.test-${index}`, program, [
      `--kubeconfig=${kubeconfig}`,
      "--provider=local",
      "--disable-log-dump",
      "--dump-logs-on-failure=false",
      `--e2e-output-dir=${reports}`,
      "--ginkgo.no-color",
      "--ginkgo.v",
      "--ginkgo.silence-skips",
      "--ginkgo.timeout=2h",
      `--ginkgo.json-report=${report}`,
      ...list.map((spec) => `--ginkgo.focus=${escapeExpression(`${spec} [Conformance]`)}`),
    ]);
    const text = await readFile(report, "utf8").catch(() => undefined);
    return resultsOf(list, text === undefined ? undefined : JSON.parse(text));
  };
  const results = (await Promise.all(together.map(runList))).flat();
  if (alone.length > 0 && !signal.aborted) results.push(...(await runList(alone, together.length)));
  else results.push(...resultsOf(alone, undefined));
  return [...results].sort((a, b) => specs.indexOf(a.spec) - specs.indexOf(b.spec));
}

/** @param {string} text */
const escapeExpression = (text) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
