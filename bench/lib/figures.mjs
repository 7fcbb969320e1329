// @ts-check
/** Formats the measured figures as JSON lines for programs and as a table for people. */

/**
 * @typedef {object} Figure
 * @property {string} scenario
 * @property {string} figure
 * @property {string} unit
 * @property {number} [ours]
 * @property {number} [clientGo]
 * @property {number} [floor] the best that this machine can do, without an election
 * @property {number} [atMost] the target for tenure
 * @property {number} [atLeast] the target for tenure
 * @property {number} [samples] number of samples of each kind
 * @property {string} [note]
 */

/** @param {Figure} figure @returns {boolean | undefined} undefined if there is no target */
function isMet({ ours, atMost, atLeast }) {
  if (ours === undefined || (atMost === undefined && atLeast === undefined)) return undefined;
  return ours <= (atMost ?? Number.POSITIVE_INFINITY) && ours >= (atLeast ?? Number.NEGATIVE_INFINITY);
}

/** @param {Figure} figure */
export function jsonLine(figure) {
  return JSON.stringify({ ...figure, met: isMet(figure) });
}

/** @param {readonly Figure[]} figures */
export function markdownTable(figures) {
  const rows = figures.map((figure) => {
    const { scenario, figure: name, unit, ours, clientGo, floor, samples } = figure;
    const met = isMet(figure);
    return [
      `${scenario}: ${name}`,
      quantity(ours, unit),
      quantity(clientGo, unit),
      ratio(ours, clientGo),
      quantity(floor, unit),
      target(figure),
      met === undefined ? "" : met ? "yes" : "**no**",
      samples === undefined ? "" : String(samples),
    ];
  });
  const head = ["", "tenure", "client-go", "client-go : tenure", "floor", "target", "met", "samples"];
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** @param {readonly Figure[]} figures */
export function notes(figures) {
  return [...new Set(figures.flatMap(({ scenario, note }) => (note ? [`- ${scenario}: ${note}`] : [])))].join(
    "\n",
  );
}

/** @param {number | undefined} value @param {string} unit */
function quantity(value, unit) {
  if (value === undefined || Number.isNaN(value)) return "";
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${Number(value.toFixed(digits))} ${unit}`.trim();
}

/** @param {number | undefined} ours @param {number | undefined} theirs */
function ratio(ours, theirs) {
  if (!ours || !theirs) return "";
  const value = theirs / ours;
  return value >= 10 ? value.toFixed(0) : value.toPrecision(2);
}

/** @param {Figure} figure */
function target({ atMost, atLeast, unit }) {
  if (atMost !== undefined) return `≤ ${quantity(atMost, unit)}`;
  return atLeast === undefined ? "" : `≥ ${quantity(atLeast, unit)}`;
}
