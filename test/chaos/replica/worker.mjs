// @ts-check
/**
 * The child of a leader. It works in small steps and reports each of them to the witness. It reads from stdin until when it
 * may work, checks the clock before each step, and exits with its parent, so that it outlives neither its term nor its parent.
 */
import { connect } from "node:net";
import { createInterface } from "node:readline";

const [id, token, witnessPort] = process.argv.slice(2);
const stepMs = 10;

let untilMs = Number.NEGATIVE_INFINITY;
const witness = connect(Number(witnessPort), "127.0.0.1");
witness.on("error", () => process.exit(1));
createInterface({ input: process.stdin }).on("line", (line) => {
  untilMs = Number(line);
});
process.stdin.on("end", () => process.exit(0));

setInterval(() => {
  const [seconds, nanos] = process.hrtime();
  const atMs = seconds * 1_000 + nanos / 1e6;
  if (atMs < untilMs) witness.write(`${JSON.stringify({ id, pid: process.pid, token, atMs })}\n`);
}, stepMs);
