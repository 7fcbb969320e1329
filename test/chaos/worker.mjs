// @ts-check
/**
 * A leader's child: works in small steps, each told to the witness. It learns on stdin until when it may work, asks the
 * clock before each step, and ends when its parent is gone, so that it neither outlives its parent nor its right.
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
