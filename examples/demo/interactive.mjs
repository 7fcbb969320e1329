// @ts-check
/** The demo on a terminal: redraws the view and injects a fault when a key is pressed. */
import { emitKeypressEvents } from "node:readline";
import { faults } from "./faults.mjs";
import { draw } from "./view.mjs";

const drawEveryMs = 200;
const keptNotes = 20;

/**
 * @param {import("./system.mjs").System} system
 * @param {number} startedMs
 * @param {{ signal: AbortSignal, notes: string[] }} parts
 */
export async function runInteractive(system, startedMs, { signal, notes }) {
  const { stdin, stdout } = process;
  const colour = !process.env.NO_COLOR && process.env.TERM !== "dumb";
  let height = 0;
  const show = () => {
    notes.splice(0, notes.length - keptNotes);
    const size = { columns: stdout.columns || 80, rows: stdout.rows || 24, colour };
    const lines = draw(sceneOf(system, startedMs, notes), size);
    stdout.write(`${height > 0 ? `\u001b[${height}A` : ""}\r\u001b[J${lines.join("\n")}\n`);
    height = lines.length;
  };
  const onResize = () => {
    // The terminal re-wrapped the old lines, so their number of rows is unknown: clear the screen.
    stdout.write("\u001b[2J\u001b[H");
    height = 0;
    show();
  };
  stdout.write("\u001b[?25l");
  const timer = setInterval(show, drawEveryMs);
  stdout.on("resize", onResize);
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.resume();
  try {
    await new Promise((resolve) => {
      signal.addEventListener("abort", resolve, { once: true });
      stdin.on("keypress", (_text, { name, ctrl }) => {
        if (name === "q" || (ctrl && name === "c")) resolve(undefined);
        const fault = faults.find(({ key }) => key === name);
        if (!fault || ctrl) return;
        const leader = system.leader;
        if (leader?.state !== "up") {
          notes.push("nobody leads: wait for the next leader");
          return;
        }
        notes.push(fault.describe(leader.name));
        fault.inject(system, leader).catch((error) => notes.push(error.message));
      });
    });
  } finally {
    clearInterval(timer);
    stdout.off("resize", onResize);
    stdin.removeAllListeners("keypress");
    stdin.setRawMode(false);
    stdin.pause();
    show();
    stdout.write("\u001b[?25h");
  }
}

/** @param {import("./system.mjs").System} system @param {number} startedMs @param {string[]} notes */
function sceneOf(system, startedMs, notes) {
  const { placed, finished, refused } = system.service?.ledger ?? { placed: 0, finished: 0, refused: 0 };
  return {
    elapsedMs: performance.now() - startedMs,
    replicas: system.replicas,
    holder: system.lease?.holder,
    leaseAgeMs: system.lease && Date.now() - system.lease.renewedMs,
    leaseMs: system.options.leaseSeconds * 1_000,
    token: system.token,
    placed,
    finished,
    refused,
    perSecond: system.perSecond,
    handovers: system.handovers
      .slice(1)
      .map((handover) => ({ ...handover, elapsedMs: handover.atMs - startedMs })),
    notes,
  };
}
