/**
 * Runs inside of a vitest worker, in place of vitest's own order of events: it repeats test files, each time with fresh modules
 * and another active mutant. This costs milliseconds, where a new worker for each mutant would cost most of a second.
 */
import { appendFileSync, closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startTests } from "@vitest/runner";
import { getNames, getTests } from "@vitest/runner/utils";
import { TestRunner } from "vitest";

const folder = process.env.TENURE_MUTATION;
const read = (name) => JSON.parse(readFileSync(join(folder, name), "utf8"));
const { setTimeout, clearTimeout, performance } = globalThis;

/** After so many mutants the process ends, and with it everything that broken code left behind. main.mjs starts another. */
const mutantsPerProcess = 250;

/** A mutant loops forever if it passes so many more switches than the code without a mistake. */
const loopFactor = 20;
const loopAllowance = 200_000;

/** A test without an answer after this time has found the mutant. Twice the usual time would also find a busy machine. */
const limitMs = (usualMs) => usualMs * 4 + 2_000;

const active = { id: -1, hits: undefined, count: 0, limit: Number.POSITIVE_INFINITY };
globalThis.__mutant = (id) => {
  active.hits?.add(id);
  if (++active.count > active.limit) throw new Error("the mutant loops");
  return id === active.id;
};

/** One repetition of one test file. */
class FileRunner extends TestRunner {
  /** @param usual what is known of each test by its name; a test that is not in it is skipped */
  constructor(config, usual) {
    super(config);
    this.usual = usual;
    this.measured = {};
  }

  onCollected(files) {
    if (!this.usual) return;
    for (const test of getTests(files)) {
      if (!this.usual[nameOf(test)] && test.mode === "run") test.mode = "skip";
    }
  }

  async runTask(test) {
    const run = TestRunner.getTestFn(test);
    const usual = this.usual?.[nameOf(test)];
    active.count = 0;
    active.limit = usual ? usual.count * loopFactor + loopAllowance : Number.POSITIVE_INFINITY;
    if (!usual) active.hits = new Set();
    const startedAt = performance.now();
    const known = this.measured[nameOf(test)];
    try {
      await (usual ? within(limitMs(usual.ms), run()) : run());
    } finally {
      const ms = Math.max(performance.now() - startedAt, known?.ms ?? 0);
      const hits = [...new Set([...(active.hits ?? []), ...(known?.hits ?? [])])];
      this.measured[nameOf(test)] = { ms, count: Math.max(active.count, known?.count ?? 0), hits };
    }
  }

  async onAfterRunTask(test) {
    super.onAfterRunTask(test);
    if (this.usual && test.result?.state === "fail") this.cancel("test-failure");
  }

  async onAfterRunSuite() {}
}

const nameOf = (test) => getNames(test).slice(1).join(" > ");

const tooLong = "the mutant takes too long";

function within(ms, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(tooLong)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

export default class MutationRunner extends TestRunner {
  async onBeforeCollect() {
    const plan = read("plan.json");
    if (plan.mode === "measure") for (const file of plan.testFiles) await this.measure(plan.root, file);
    else await this.tryMutants(plan);
  }

  /** The tests run in onBeforeCollect. The file that vitest itself wants to run is not needed. */
  importFile() {}

  async measure(root, file) {
    if (!claim(file.replaceAll("/", "__"))) return;
    active.hits = new Set();
    const imports = active.hits;
    const { runner, files } = await this.runFile(join(root, file), undefined);
    const failed = getTests(files)
      .filter(({ result }) => result?.state === "fail")
      .map(nameOf);
    report({ file, imports: [...imports], tests: runner.measured, failed });
  }

  async tryMutants(plan) {
    let tried = 0;
    for (const { id, tests } of plan.mutants) {
      if (tried >= mutantsPerProcess) return;
      if (!claim(id)) continue;
      tried += 1;
      report({ id, status: "started" });
      const startedAt = performance.now();
      const killedBy = await this.killerOf(id, tests, plan);
      endLeftovers();
      report({
        id,
        status: killedBy ? (killedBy.error === tooLong ? "timed out" : "killed") : "survived",
        killedBy,
        ms: Math.round(performance.now() - startedAt),
      });
    }
  }

  async killerOf(id, tests, plan) {
    for (const { file, names } of tests) {
      const known = plan.measured[file];
      const usual = Object.fromEntries(names.map((name) => [name, known[name]]));
      active.id = id;
      active.count = 0;
      active.limit = loopAllowance * loopFactor;
      const { files } = await this.runFile(join(plan.root, file), usual);
      active.id = -1;
      const failed = getTests(files).find(({ result }) => result?.state === "fail");
      if (failed)
        return { file, test: nameOf(failed), error: failed.result.errors?.[0]?.message?.slice(0, 200) };
      if (files.some(({ result }) => result?.state === "fail")) return { file, test: "(import)" };
    }
    return undefined;
  }

  async runFile(filepath, usual) {
    this.moduleRunner.mocker?.reset();
    resetModules(this.workerState.evaluatedModules);
    this.workerState.filepath = filepath;
    const runner = new FileRunner(this.config, usual);
    Object.defineProperty(runner, "moduleRunner", { value: this.moduleRunner });
    runner.__setTraces(this._otel);
    const files = await startTests([{ filepath, testLocations: undefined }], runner);
    return { runner, files };
  }
}

/** What vitest does between two files that do not share modules. */
function resetModules(modules) {
  modules.idToModuleMap.forEach((node, path) => {
    if (/\/vitest\/dist\/|vitest-virtual-\w+\/dist|@vitest\/dist/.test(path)) return;
    node.promise = undefined;
    node.exports = undefined;
    node.evaluated = false;
    node.importers.clear();
  });
}

/**
 * Kills the processes that tests of the mutant started and did not end. Some loop, and would slow down the tests of the next
 * mutants until these miss their time limits. The group holds only this process, vitest, and what the tests started.
 */
function endLeftovers() {
  const ownGroup = groupOf("self");
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    if ([process.pid, process.ppid].includes(Number(pid)) || groupOf(pid) !== ownGroup) continue;
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch (error) {
      if (error.code !== "ESRCH") throw error;
    }
  }
}

/** The process group; undefined if the process has exited. */
function groupOf(pid) {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "latin1");
    return line.slice(line.lastIndexOf(")") + 2).split(" ")[2];
  } catch {
    return undefined;
  }
}

/** Whether this process is the first that wants the item. */
function claim(item) {
  try {
    closeSync(openSync(join(folder, `claim-${item}`), "wx"));
    return true;
  } catch {
    return false;
  }
}

function report(line) {
  appendFileSync(join(folder, "results.jsonl"), `${JSON.stringify(line)}\n`);
}
