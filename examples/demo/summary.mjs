// @ts-check
import { count } from "./view.mjs";

/** @param {Awaited<ReturnType<import("./system.mjs").System["summary"]>>} summary @param {number} elapsedMs */
export function summaryLines(summary, elapsedMs) {
  const { placed, finished, lost, twice, startedTwice, refused, handovers, downMs } = summary;
  const each = handovers.map(
    ({ from, to, gapMs, cause }) => `${from} → ${to} ${Math.round(gapMs)} ms (${cause})`,
  );
  return [
    "",
    `handovers        ${handovers.length}${each.length > 0 ? `: ${each.join(", ")}` : ""}`,
    `downtime         ${seconds(downMs)} of ${seconds(elapsedMs)}`,
    `orders           ${count(placed)}, finished ${count(finished)}`,
    `lost             ${count(lost)}`,
    `finished twice   ${count(twice)}`,
    `started twice    ${count(startedTwice)}, in flight when their worker was lost`,
    `rejected         ${count(refused)} calls from workers that had been replaced`,
  ];
}

/** @param {number} ms */
const seconds = (ms) => `${(ms / 1_000).toFixed(1)} s`;
