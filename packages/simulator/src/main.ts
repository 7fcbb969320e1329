/** `npm run simulate`: looks for violations of G1 to G4 in seeded histories, or checks that planted bugs are found. */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { bugs } from "./bugs.ts";
import { add, emptySummary, type Summary } from "./summary.ts";

const usage = `Usage: npm run simulate -- [--seeds N] [--from S] [--bug NAME] [--all-bugs]

Runs seeded histories in virtual time and checks that no two terms overlap (G1), tokens increase (G2), a lock is released
only by its holder (G3), and a free lock is acquired at once (G4). On a violation, prints the seed and the shortest history
that was found, and exits with 1.

  --seeds N    the number of histories (default 1000, or 10000 with a bug)
  --from S     the first seed (default 1); \`--from S --seeds 1\` replays one history
  --bug NAME   plant a known bug; stop and exit with 1 when it is found
  --all-bugs   plant each bug in turn; exit with 0 if all are found within --seeds

Bugs:
${Object.entries(bugs)
  .map(([name, { about }]) => `  ${name.padEnd(30)} ${about}`)
  .join("\n")}
`;

const seedsPerMessage = 25;

async function runSeeds(from: number, seeds: number, bug: string | undefined): Promise<Summary> {
  const end = from + seeds;
  let next = from;
  let summary = emptySummary;
  const isDone = () => next >= end || (bug !== undefined && summary.violations > 0);
  const runWorker = () =>
    new Promise<void>((resolve, reject) => {
      const worker = new Worker(new URL("./worker.js", import.meta.url), { workerData: bug });
      const sendNext = () => {
        if (isDone()) {
          void worker.terminate().then(() => resolve());
          return;
        }
        const count = Math.min(seedsPerMessage, end - next);
        worker.postMessage({ from: next, count });
        next += count;
      };
      worker.on("error", reject);
      worker.on("message", (part: Summary) => {
        summary = add(summary, part);
        if (process.stderr.isTTY)
          process.stderr.write(`\r${summary.seeds} of ${seeds} seeds, ${summary.violations} violations `);
        sendNext();
      });
      sendNext();
    });
  await Promise.all(Array.from({ length: Math.max(1, availableParallelism()) }, runWorker));
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
  return summary;
}

function report(summary: Summary, seconds: number, bug: string | undefined): void {
  const hours = summary.simulatedMs / 3_600_000;
  console.log(`seeds            ${summary.seeds}`);
  console.log(`simulated hours  ${hours.toFixed(1)} in ${seconds.toFixed(1)} s`);
  console.log(`terms            ${summary.terms} of tenure, ${summary.clientGoTerms} of client-go`);
  const faults = Object.entries(summary.faults).sort(([a], [b]) => a.localeCompare(b));
  console.log(
    `faults           ${faults.reduce((sum, [, count]) => sum + count, 0)}: ${faults.map((fault) => fault.join(" ")).join(", ")}`,
  );
  console.log(`overlaps that only client-go candidates can cause  ${summary.clientGoOverlaps}`);
  console.log(`violations       ${summary.violations}`);
  for (const { seed, rule, message, history } of summary.failures) {
    console.log(`\nseed ${seed} violates ${rule}: ${message}`);
    for (const line of history) console.log(`  ${line}`);
    const planted = bug === undefined ? "" : ` --bug ${bug}`;
    console.log(`  replay: npm run simulate -- --from ${seed} --seeds 1${planted}`);
  }
}

function wholeNumber(value: string | undefined, name: string, fallback: number, least: number): number {
  const number = value === undefined ? fallback : Number(value);
  if (Number.isSafeInteger(number) && number >= least) return number;
  return fail(`${name} must be a whole number of at least ${least}, but is ${value}`);
}

function fail(message: string): never {
  console.error(`${message}. Run \`npm run simulate -- --help\` for the options.`);
  process.exit(2);
}

function options() {
  try {
    return parseArgs({
      options: {
        seeds: { type: "string" },
        from: { type: "string" },
        bug: { type: "string" },
        "all-bugs": { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    return fail((error as Error).message);
  }
}

async function main(): Promise<number> {
  const { seeds, from, bug, "all-bugs": allBugs, help } = options();
  if (help) {
    console.log(usage);
    return 0;
  }
  const seedCount = wholeNumber(seeds, "--seeds", allBugs || bug ? 10_000 : 1_000, 1);
  const first = wholeNumber(from, "--from", 1, 0);
  if (bug !== undefined && !Object.hasOwn(bugs, bug))
    fail(`--bug must be one of ${Object.keys(bugs).join(", ")}, but is ${bug}`);
  if (allBugs) {
    let missed = 0;
    for (const name of Object.keys(bugs)) {
      const { violations, failures, seeds: simulated } = await runSeeds(first, seedCount, name);
      if (violations === 0) missed += 1;
      const verdict =
        violations === 0
          ? "NOT FOUND"
          : `found by seed ${failures[0]?.seed}: ${failures[0]?.rule}, ${failures[0]?.message}`;
      console.log(`${name.padEnd(30)} ${verdict} (${simulated} seeds)`);
    }
    return missed === 0 ? 0 : 1;
  }
  const startedMs = performance.now();
  const summary = await runSeeds(first, seedCount, bug);
  report(summary, (performance.now() - startedMs) / 1_000, bug);
  return summary.violations === 0 ? 0 : 1;
}

process.exitCode = await main();
