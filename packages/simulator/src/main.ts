/** `npm run simulate`: looks for violations of G1 to G4 in seeded histories, or checks that planted bugs are found. */
import { availableParallelism } from "node:os";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { bugs } from "./bugs.ts";
import { builtFiles, copyPackages } from "./copy-packages.ts";
import { type ExecutedLines, linesOfCode } from "./coverage.ts";
import type { Width } from "./plan.ts";
import { bugsInShards } from "./shards/bugs-in-shards.ts";
import { findShardBugs, simulateShards } from "./shards/simulate.ts";
import { add, emptySummary, type Summary } from "./summary.ts";
import { bugsInSupervisor } from "./supervisor/bugs-in-supervisor.ts";
import { checks } from "./violation.ts";
import type { WorkerOptions } from "./worker.ts";

const usage = `Usage: npm run simulate -- [--seeds N] [--from S] [--wide | --narrow | --stores | --supervised | --shards] [--coverage] [--bug NAME] [--all-bugs]

Runs seeded histories in virtual time and checks that no two terms overlap (G1), tokens increase (G2), a lock is released
only by its holder (G3), and a free lock is acquired at once (G4). On a violation, prints the seed and the shortest history
that was found, and exits with 1.

Every fourth seed runs everything that ships: Election, and the locks and the client over simulated HTTP, or the lock on a
simulated etcd or PostgreSQL. The others run only the candidate, which is faster.

  --seeds N    the number of histories (default 1000, or 10000 with a bug)
  --from S     the first seed (default 1); \`--from S --seeds 1\` replays one history
  --wide       run everything that ships in every seed
  --stores     run everything that ships on etcd or PostgreSQL in every seed
  --narrow     run only the candidate in every seed
  --supervised every candidate runs a child under the machine of the supervisor, with a watchdog that may hang or die
  --shards     sets of shards and semaphores instead of elections: no two owners, increasing tokens, no shard unowned for longer
               than a lease, even distribution, no needless movement; every fifth, or each with --wide, runs everything that ships
  --coverage   print the share of the lines of the shipped packages that the histories execute; implies --wide
               without --stores, and adds a third as many histories of sets of shards
  --bug NAME   plant a known bug; stop and exit with 1 when it is found
  --all-bugs   plant each bug in turn; exit with 0 if all are found within --seeds, and if each check is the only one
               that finds a bug in some history

Bugs:
${Object.entries(bugs)
  .map(([name, { about }]) => `  ${name.padEnd(30)} ${about}`)
  .join("\n")}
`;

/** A history of everything that ships takes longer. */
const seedsPerMessage: Readonly<Record<Width, number>> = {
  narrow: 25,
  mixed: 20,
  wide: 5,
  migrating: 5,
  stores: 5,
  supervised: 25,
};

interface Run {
  readonly from: number;
  readonly seeds: number;
  readonly bug: string | undefined;
  readonly width: Width;
  readonly coverage: boolean;
  readonly shrinks: boolean;
  readonly threads: number;
}

const threads = Math.max(1, availableParallelism());
const executedLines = new Map<string, Set<number>>();

async function runSeeds(run: Run): Promise<Summary> {
  const { bug, coverage } = run;
  // Without changes the bundles run, as they ship.
  const copy =
    bug !== undefined || coverage ? copyPackages(`${bug ?? "coverage"}-${process.pid}`, bug) : undefined;
  const worker = copy
    ? pathToFileURL(`${copy.folder}/simulator/dist/worker.js`)
    : new URL("./worker.js", import.meta.url);
  try {
    return await runWorkers(worker, run);
  } finally {
    copy?.remove();
  }
}

async function runWorkers(url: URL, run: Run): Promise<Summary> {
  const { from, seeds, bug, width, coverage, shrinks, threads } = run;
  const workerData: WorkerOptions = { width, coverage, shrinks };
  const stopsAtViolation = bug !== undefined;
  const end = from + seeds;
  let next = from;
  let summary = emptySummary;
  const isDone = () => next >= end || (stopsAtViolation && summary.violations > 0);
  const runWorker = () =>
    new Promise<void>((resolve, reject) => {
      const worker = new Worker(url, { workerData });
      const sendNext = () => {
        if (isDone()) {
          void worker.terminate().then(() => resolve());
          return;
        }
        const count = Math.min(seedsPerMessage[width], end - next);
        worker.postMessage({ from: next, count });
        next += count;
      };
      worker.on("error", reject);
      worker.on("message", (part: { readonly summary: Summary; readonly executed?: ExecutedLines }) => {
        summary = add(summary, part.summary);
        noteExecuted(part.executed ?? {});
        if (process.stderr.isTTY)
          process.stderr.write(`\r${summary.seeds} of ${seeds} seeds, ${summary.violations} violations `);
        sendNext();
      });
      sendNext();
    });
  await Promise.all(Array.from({ length: threads }, runWorker));
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
  return summary;
}

function noteExecuted(executed: ExecutedLines): void {
  for (const [file, lines] of Object.entries(executed))
    executedLines.set(file, new Set([...(executedLines.get(file) ?? []), ...lines]));
}

/** Prints the share of the lines of each package that the histories executed, and the files with the most other lines. */
function reportCoverage(): void {
  for (const name of ["core", "election", "kube", "etcd", "postgres"]) {
    const files = builtFiles(name).map(({ file, text }) => {
      const lines = linesOfCode(text);
      const executed = lines.filter((line) => executedLines.get(file)?.has(line)).length;
      return { file, lines: lines.length, executed };
    });
    const sum = (key: "lines" | "executed") => files.reduce((total, file) => total + file[key], 0);
    const share = (100 * sum("executed")) / sum("lines");
    console.log(`executed         ${share.toFixed(1)} % of ${sum("lines")} lines of ${name}`);
    const missed = files.sort((a, b) => b.lines - b.executed - (a.lines - a.executed)).slice(0, 5);
    for (const { file, lines, executed } of missed) console.log(`    ${executed} of ${lines} in ${file}`);
  }
}

function report(summary: Summary, seconds: number, { bug, width }: Run): void {
  const hours = summary.simulatedMs / 3_600_000;
  console.log(`seeds            ${summary.seeds}, of which ${summary.wideSeeds} run everything that ships`);
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
    const options = `${width === "mixed" ? "" : ` --${width}`}${bug === undefined ? "" : ` --bug ${bug}`}`;
    console.log(`  replay: npm run simulate -- --from ${seed} --seeds 1${options}`);
  }
  const { failures, violatingSeeds } = summary;
  if (violatingSeeds.length > failures.length)
    console.log(`\nall seeds with violations: ${violatingSeeds.join(", ")}`);
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
        wide: { type: "boolean", default: false },
        narrow: { type: "boolean", default: false },
        stores: { type: "boolean", default: false },
        supervised: { type: "boolean", default: false },
        shards: { type: "boolean", default: false },
        coverage: { type: "boolean", default: false },
        bug: { type: "string" },
        "all-bugs": { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    return fail((error as Error).message);
  }
}

/** Plants each bug in turn. Returns whether all are found, and each check finds one that no other check finds. */
async function findAllBugs(from: number, seeds: number): Promise<boolean> {
  // Those that take long first, so that in the end no thread waits for another one.
  const names = simulatedBugs().sort((a, b) => seedsPerMessage[widthOf(a)] - seedsPerMessage[widthOf(b)]);
  const count = names.length;
  const soleChecks = new Set<string>();
  let missed = 0;
  const findNext = async (): Promise<void> => {
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      const run = {
        from: bugs[name]?.firstSeed ?? from,
        seeds,
        bug: name,
        width: widthOf(name),
        coverage: false,
        shrinks: false,
        threads: 1,
      };
      const startedMs = performance.now();
      const { violations, failures, soleChecks: sole, seeds: simulated } = await runSeeds(run);
      for (const check of sole) soleChecks.add(check);
      if (violations === 0) missed += 1;
      const { seed, rule, message } = failures[0] ?? {};
      const verdict = violations === 0 ? "NOT FOUND" : `found by seed ${seed}: ${rule}, ${message}`;
      const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
      console.log(`${name.padEnd(34)} ${verdict} (${simulated} seeds, ${seconds} s)`);
    }
  };
  // One bug in each thread, because most are found within a few seeds.
  await Promise.all(Array.from({ length: threads }, findNext));
  const useless = Object.keys(checks).filter((check) => !soleChecks.has(check));
  const proven = Object.keys(checks).length - useless.length;
  console.log(`${count - missed} of ${count} bugs are found`);
  for (const [name, { onlySearched }] of Object.entries(bugs))
    if (onlySearched) console.log(`${name} is left to \`npm run explore\`: ${onlySearched}`);
  console.log(`${proven} checks were the only one to report a bug in some history`);
  for (const check of useless) console.log(`NO BUG is found by the check ${check} alone`);
  return missed === 0 && useless.length === 0;
}

function simulatedBugs(): string[] {
  return Object.entries(bugs).flatMap(([name, { onlySearched }]) => (onlySearched ? [] : [name]));
}

function widthOf(bug: string): Width {
  return bugs[bug]?.width ?? "narrow";
}

async function main(): Promise<number> {
  const {
    seeds,
    from,
    bug,
    wide,
    narrow,
    stores,
    supervised,
    shards,
    coverage,
    "all-bugs": allBugs,
    help,
  } = options();
  if (help) {
    console.log(usage);
    return 0;
  }
  const seedCount = wholeNumber(seeds, "--seeds", allBugs || bug ? 10_000 : 1_000, 1);
  const first = wholeNumber(from, "--from", 1, 0);
  if ([wide, narrow, stores].filter(Boolean).length > 1)
    fail("--wide, --narrow and --stores exclude each other");
  const known = shards ? bugsInShards : supervised ? bugsInSupervisor : bugs;
  if (bug !== undefined && !Object.hasOwn(known, bug))
    fail(`--bug must be one of ${Object.keys(known).join(", ")}, but is ${bug}`);
  if (shards && allBugs) return (await findShardBugs(Object.keys(bugsInShards), first, seedCount)) ? 0 : 1;
  if (shards && bug !== undefined) return (await findShardBugs([bug], first, seedCount)) ? 1 : 0;
  if (shards)
    return simulateShards({ from: first, seeds: seedCount, threads, width: wide ? "wide" : "mixed" });
  if (allBugs) return (await findAllBugs(first, seedCount)) ? 0 : 1;
  const startedMs = performance.now();
  const ofBug = bug === undefined ? "mixed" : widthOf(bug);
  const everything = stores ? "stores" : "wide";
  const width =
    wide || stores || coverage ? everything : narrow ? "narrow" : supervised ? "supervised" : ofBug;
  const run = { from: first, seeds: seedCount, bug, width, coverage, shrinks: true, threads } as const;
  const summary = await runSeeds(run);
  report(summary, (performance.now() - startedMs) / 1_000, run);
  if (!coverage) return summary.violations === 0 ? 0 : 1;
  const sets = { from: first, seeds: Math.ceil(seedCount / 3), threads, width: "wide" } as const;
  console.log("");
  const setsCode = await simulateShards({ ...sets, onExecuted: noteExecuted });
  reportCoverage();
  return summary.violations === 0 ? setsCode : 1;
}

process.exitCode = await main();
