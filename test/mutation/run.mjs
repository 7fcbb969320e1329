/** Starts the worker processes of a mutation run, and starts them again when a mutant hangs them. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, testFilesFor } from "./selection.mjs";

/** A worker that reports nothing for so long hangs: no time limit inside of it could fire. */
const silenceMs = 60_000;
const checkEveryMs = 500;

/** Slower tests do not count: they run many histories, and each mutant would repeat them. */
const slowestTestMs = 4_000;

/** Runs every test once without a mistake. Returns for each test file which mutants it reaches, and how long its tests take. */
export async function measureTests(name, { mutants }, { workers, only = "" }) {
  const testFiles = testFilesFor(name).filter((path) => path.includes(only));
  const lines = await runWorkers(
    { mode: "measure", testFiles, ...switchesOf(mutants) },
    workers,
    testFiles.length,
  );
  if (lines.length < testFiles.length) throw new Error("a test file hangs without any mutant");
  const failed = lines.flatMap(({ file, failed }) => failed.map((test) => `${file}: ${test}`));
  if (failed.length > 0) throw new Error(`these tests fail without any mutant:\n${failed.join("\n")}`);
  return new Map(lines.map(({ file, imports, tests }) => [file, { imports: new Set(imports), tests }]));
}

export async function tryMutants({ mutants }, tests, workers) {
  const reached = mutants
    .map((mutant) => ({ id: mutant.id, tests: testsReaching(mutant, tests) }))
    .filter((entry) => entry.tests.length > 0);
  const measured = Object.fromEntries(
    [...tests].map(([file, entry]) => [
      file,
      Object.fromEntries(Object.entries(entry.tests).map(([test, { ms, count }]) => [test, { ms, count }])),
    ]),
  );
  const plan = {
    mode: "try",
    mutants: reached,
    measured,
    testFiles: [...tests.keys()],
    ...switchesOf(mutants),
  };
  const lines = reached.length === 0 ? [] : await runWorkers(plan, workers, reached.length);
  const results = new Map(mutants.map(({ id }) => [id, { status: "not reached" }]));
  for (const line of lines) results.set(line.id, line.status === "started" ? { status: "timed out" } : line);
  return results;
}

/**
 * The quickest tests first: most mutants are found by the first file. Only the first test of a file loads a module, but every
 * later one depends on the code that ran then.
 */
function testsReaching({ id, runsOnce }, tests) {
  return [...tests]
    .map(([file, { imports, tests }]) => {
      const reach = (name) => tests[name].hits.includes(id);
      const all = Object.keys(tests).filter((name) => tests[name].ms <= slowestTestMs);
      const names = imports.has(id) || (runsOnce && all.some(reach)) ? all : all.filter(reach);
      return { file, names, ms: names.reduce((sum, name) => sum + tests[name].ms, 0) };
    })
    .filter(({ names }) => names.length > 0)
    .sort((a, b) => a.ms - b.ms);
}

function switchesOf(mutants) {
  const ids = {};
  for (const { path, index, id } of mutants) {
    ids[path] ??= {};
    ids[path][index] = id;
  }
  return { root, ids };
}

async function runWorkers(plan, workers, items) {
  const folder = mkdtempSync(join(tmpdir(), "tenure-mutation-"));
  writeFileSync(join(folder, "plan.json"), JSON.stringify(plan));
  const results = join(folder, "results.jsonl");
  const lines = () =>
    existsSync(results)
      ? readFileSync(results, "utf8")
          .trimEnd()
          .split("\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line))
      : [];
  const claimed = () => readdirSync(folder).filter((file) => file.startsWith("claim-")).length;
  const log = openSync(join(folder, "log.txt"), "a");
  const work = async () => {
    while (claimed() < items) {
      const before = claimed();
      await runWorker(folder, log, results);
      if (claimed() > before) continue;
      throw new Error(
        `the workers do nothing:\n${readFileSync(join(folder, "log.txt"), "utf8").slice(-4_000)}`,
      );
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  const found = lines();
  rmSync(folder, { recursive: true });
  return found;
}

/** Resolves when the worker ends, or was ended because it hangs. */
function runWorker(folder, log, results) {
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const config = new URL("vitest.config.mjs", import.meta.url).pathname;
  const child = spawn(process.execPath, [vitest, "run", "--config", config], {
    cwd: root,
    env: { ...process.env, TENURE_MUTATION: folder },
    stdio: ["ignore", log, log],
    detached: true,
  });
  let size = -1;
  let quietSince = performance.now();
  const timer = setInterval(() => {
    const now = existsSync(results) ? readFileSync(results).length : 0;
    if (now !== size) quietSince = performance.now();
    size = now;
    if (performance.now() - quietSince > silenceMs) killGroup(child.pid);
  }, checkEveryMs);
  return new Promise((resolve) => child.once("exit", resolve)).finally(() => {
    clearInterval(timer);
    // A mutant that does not end its processes leaves them in the group of the worker, some in endless loops.
    killGroup(child.pid);
  });
}

function killGroup(group) {
  try {
    process.kill(-group, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}
