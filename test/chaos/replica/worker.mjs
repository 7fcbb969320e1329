// @ts-check
/**
 * The work of a leader: it derives each value from the last one that it knows, and writes it to a register. It trusts that
 * nobody else writes, as a leader does, so a second leader would destroy its values.
 *
 * As the child of `library.mjs` it reads from stdin until when it may work, and exits with its parent. As the child of
 * `tenure run` it reads TENURE_DEADLINE_FILE; with TENURE_CHAOS_CHECKS=no it never stops by itself.
 */
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { HistoryFile, nowMs } from "../history/history.mjs";
import { RegisterClient } from "../register/client.mjs";

const stepMs = 20;
/** So often, it reads back what it wrote. */
const readEvery = 25;
const registers = /** @type {const} */ (["fenced", "open"]);

const { TENURE_IDENTITY = "", TENURE_TOKEN = "", TENURE_DEADLINE_FILE: deadlineFile } = process.env;
const { TENURE_CHAOS_HISTORY = "", TENURE_CHAOS_PORT = "", TENURE_CHAOS_CHECKS } = process.env;
const checks = TENURE_CHAOS_CHECKS !== "no";
const identity = { id: TENURE_IDENTITY, token: TENURE_TOKEN };
const client = new RegisterClient(Number(TENURE_CHAOS_PORT), new HistoryFile(TENURE_CHAOS_HISTORY), identity);

let untilMs = Number.NEGATIVE_INFINITY;
if (!deadlineFile) {
  createInterface({ input: process.stdin }).on("line", (line) => {
    untilMs = Number(line);
  });
  process.stdin.on("end", () => process.exit(0));
}

function deadline() {
  if (!deadlineFile) return untilMs;
  try {
    untilMs = Number(JSON.parse(readFileSync(deadlineFile, "utf8")).monotonicMs);
  } catch {
    // The supervisor removes the file when it exits. The last deadline stays the last.
  }
  return untilMs;
}

/** @returns {import("../register/client.mjs").Right | undefined} */
function rightNow() {
  if (checks) {
    // The clock is read last: a worker that is frozen in between sees that its time is over.
    const limitMs = deadline();
    const atMs = nowMs();
    return atMs < limitMs ? { atMs, untilMs: limitMs, checks } : undefined;
  }
  // Here it is read first: a renewal in between must not look like work after the deadline.
  const atMs = nowMs();
  return { atMs, untilMs: deadline(), checks };
}

/** @type {Partial<Record<import("../history/history.mjs").RegisterName, string>>} */
const known = {};
for (let step = 0; ; step += 1) {
  await new Promise((resolve) => setTimeout(resolve, stepMs));
  const register = /** @type {"fenced" | "open"} */ (registers[step % registers.length]);
  const right = rightNow();
  if (!right) continue;
  const last = known[register];
  if (last === undefined || step % readEvery === 0) {
    const { value } = await client.read(register, right);
    // A refused read has no value: this worker is stale, and the next step tries again.
    if (last === undefined && value !== undefined) known[register] = value;
    continue;
  }
  const value = `${TENURE_IDENTITY}/${TENURE_TOKEN}/${process.pid}/${step}`;
  const { outcome } = await client.write(register, right, value, last);
  if (outcome === "ok") known[register] = value;
}
