// @ts-check
/**
 * Renders the interactive view as lines for a terminal of a given size: who leads, the phase of each replica, the age of the lease,
 * orders per second, and the duration of every handover.
 *
 * @typedef {"plain" | "dim" | "bold" | "good" | "bad" | "busy"} Style
 * @typedef {[text: string, style?: Style][]} Line
 *
 * @typedef {object} Scene
 * @property {number} elapsedMs
 * @property {{ name: string, phase: string, state: string }[]} replicas
 * @property {string | undefined} holder who holds the lease
 * @property {number | undefined} leaseAgeMs since its last renewal
 * @property {number} leaseMs
 * @property {bigint | undefined} token
 * @property {number} placed
 * @property {number} finished
 * @property {number} refused
 * @property {number} perSecond
 * @property {{ elapsedMs: number, from: string, to: string, gapMs: number, cause: string }[]} handovers
 * @property {string[]} notes the latest messages
 */

const keys = "k kill the leader   f freeze   c cut its network   s step down   q quit";
const codes = { plain: "", dim: "2", bold: "1", good: "32", bad: "31", busy: "33" };

/** @param {Scene} scene @param {{ columns: number, rows: number, colour: boolean }} terminal @returns {string[]} */
export function draw(scene, { columns, rows, colour }) {
  const head = top(scene);
  const tail = /** @type {Line[]} */ ([[], [[keys, "dim"]]]);
  // Leave one row free, or the terminal scrolls.
  const room = Math.max(0, rows - 1 - head.length - tail.length);
  const middle = below(scene, room);
  return [...head, ...middle, ...tail].map((line) => paint(cut(line, columns), colour));
}

/** @param {Scene} scene @returns {Line[]} */
function top(scene) {
  const { elapsedMs, replicas, finished, placed, perSecond, refused } = scene;
  return [
    [
      ["tenure demo", "bold"],
      [`  ${clock(elapsedMs)}  three replicas, one leader`, "dim"],
    ],
    [],
    ...replicas.map((replica) => replicaLine(replica, scene)),
    [],
    [
      [`orders  ${count(Math.round(perSecond))}/s`, perSecond > 0 ? "good" : "bad"],
      [`   ${count(finished)} of ${count(placed)} finished`],
      [refused > 0 ? `   ${count(refused)} rejected by token` : "", "busy"],
    ],
    [],
  ];
}

/** @param {Scene["replicas"][number]} replica @param {Scene} scene @returns {Line} */
function replicaLine({ name, phase, state }, { holder, leaseAgeMs, leaseMs, token }) {
  const what = state === "up" ? phase : `${phase} (${state})`.trim();
  const style = state !== "up" ? "bad" : phase === "leader" ? "good" : phase === "follower" ? "dim" : "busy";
  /** @type {Line} */
  const line = [
    [`  ${name}  `, "bold"],
    [what.padEnd(22), style],
  ];
  if (holder === name && leaseAgeMs !== undefined) {
    line.push([`lease ${bar(1 - leaseAgeMs / leaseMs)} renewed ${seconds(leaseAgeMs)} ago`]);
    if (token !== undefined) line.push([`  token ${token}`, "dim"]);
  }
  return line;
}

/** The latest handovers and notes that fit into the free rows. @param {Scene} scene @param {number} room */
function below({ handovers, notes }, room) {
  const forNotes = Math.max(0, Math.min(notes.length, Math.floor(room / 3)));
  const forHandovers = Math.max(0, room - forNotes - 1);
  /** @type {Line[]} */
  const lines = handovers
    .slice(-forHandovers || handovers.length)
    .map(({ elapsedMs, from, to, gapMs, cause }) => [
      [`  ${clock(elapsedMs)}  ${from} → ${to}  `],
      [`${count(Math.round(gapMs))} ms`.padStart(9), "bold"],
      [`  ${cause}`, "dim"],
    ]);
  const shown = forHandovers > 0 ? lines : [];
  if (room > 0) shown.unshift([[handovers.length > 0 ? "handovers" : "no handover yet", "dim"]]);
  if (forNotes > 0)
    shown.push(.../** @type {Line[]} */ (notes.slice(-forNotes).map((note) => [[note, "dim"]])));
  return shown.slice(0, room);
}

/** @param {Line} line @param {number} columns @returns {Line} */
function cut(line, columns) {
  let left = Math.max(0, columns);
  /** @type {Line} */
  const kept = [];
  for (const [text, style] of line) {
    const part = text.length <= left ? text : `${text.slice(0, Math.max(0, left - 1))}${left > 0 ? "…" : ""}`;
    left -= part.length;
    if (part) kept.push(style ? [part, style] : [part]);
  }
  return kept;
}

/** @param {Line} line @param {boolean} colour */
function paint(line, colour) {
  return line
    .map(([text, style = "plain"]) =>
      colour && codes[style] ? `\u001b[${codes[style]}m${text}\u001b[0m` : text,
    )
    .join("");
}

/** @param {number} part from 0 to 1 */
function bar(part) {
  const full = Math.max(0, Math.min(10, Math.round(part * 10)));
  return `[${"=".repeat(full)}${" ".repeat(10 - full)}]`;
}

/** @param {number} ms */
export function clock(ms) {
  const total = Math.floor(ms / 1_000);
  return `${String(Math.floor(total / 60)).padStart(2, "0")}:${String(total % 60).padStart(2, "0")}`;
}

/** @param {number} ms */
const seconds = (ms) => `${(Math.max(0, ms) / 1_000).toFixed(1)} s`;

/** @param {number} value */
export const count = (value) => value.toLocaleString("en");
