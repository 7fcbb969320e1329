// @ts-check
/**
 * Builds programs with `go` into a cache folder, from the versions pinned in test/kube/assets: kube-apiserver and etcd, and
 * Kubernetes' own end-to-end tests with the programs that they need.
 *
 * Each executable is built under a temporary name and then renamed, so a folder never contains a partial file. The lock
 * only prevents two runs from doing the same work twice. If it fails, both build, and both results are correct.
 */
import { execFile, spawn } from "node:child_process";
import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const assetsFolder = fileURLToPath(new URL("./assets", import.meta.url));
const lockPollMs = 250;
const lockTouchMs = 1_000;
/** Many missed touches, because a machine that compiles is busy. */
const lockStaleMs = 20_000;
const progressEveryMs = 15_000;
/** Enough output of go to include the first error, which go prints after the packages that it compiled. */
const keptLines = 20;

/**
 * @typedef {object} Program
 * @property {string} name of the executable
 * @property {string} version for the progress
 * @property {string} source the package
 * @property {string} ldflags
 * @property {boolean} [test] the package's tests as an executable, instead of the package itself
 * @property {string} [otherwise] what to do if it cannot be built
 */

/**
 * @param {object} options
 * @param {string} options.go path of the go command
 * @param {string} options.folder where the executables go
 * @param {import("./assets.mjs").Pins} options.pins
 * @param {(line: string) => void} [options.report] progress, by default to stderr
 */
export async function buildAssets({ go, folder, pins, report }) {
  const otherwise = "set KUBEBUILDER_ASSETS";
  const programs = [
    { name: "etcd", version: pins.etcd, source: "go.etcd.io/etcd/server/v3", ldflags: "-s -w", otherwise },
    {
      name: "kube-apiserver",
      version: pins.kubernetes,
      source: "k8s.io/kubernetes/cmd/kube-apiserver",
      ldflags: stamped(pins),
      otherwise,
    },
  ];
  await buildPrograms({ go, folder, moduleFolder: assetsFolder, programs, ...(report && { report }) });
}

/**
 * Builds the tool that restores snapshots. Only few tests need it, so it is not one of the assets.
 *
 * @param {object} options
 * @param {string} options.go path of the go command
 * @param {string} options.folder where the executable goes
 * @param {import("./assets.mjs").Pins} options.pins
 */
export async function buildEtcdutl({ go, folder, pins }) {
  const programs = [
    { name: "etcdutl", version: pins.etcd, source: "go.etcd.io/etcd/etcdutl/v3", ldflags: "-s -w" },
  ];
  await buildPrograms({ go, folder, moduleFolder: assetsFolder, programs });
}

/**
 * Builds the newest kubectl. Machines often have an older one.
 *
 * @param {object} options
 * @param {string} options.go path of the go command
 * @param {string} options.folder where the executable goes
 * @param {import("./assets.mjs").Pins} options.pins
 */
export async function buildKubectl({ go, folder, pins }) {
  const source = "k8s.io/kubernetes/cmd/kubectl";
  const programs = [{ name: "kubectl", version: pins.kubernetes, source, ldflags: stamped(pins) }];
  await buildPrograms({ go, folder, moduleFolder: assetsFolder, programs });
}

/**
 * Builds Kubernetes' end-to-end tests, the programs that some of them need, and the image that most of their pods name.
 *
 * @param {object} options
 * @param {string} options.go path of the go command
 * @param {string} options.folder where the executables go
 * @param {import("./assets.mjs").Pins} options.pins
 */
export async function buildEndToEnd({ go, folder, pins }) {
  const sources = {
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    agnhost: "k8s.io/kubernetes/test/images/agnhost",
    "e2e.test": "k8s.io/kubernetes/test/e2e",
  };
  const programs = Object.entries(sources).map(([name, source]) => ({
    name,
    version: pins.kubernetes,
    source,
    ldflags: stamped(pins),
    test: name.endsWith(".test"),
  }));
  await buildPrograms({ go, folder, moduleFolder: assetsFolder, programs });
  const list = ["list", "-mod=readonly", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes"];
  const { stdout } = await promisify(execFile)(go, list, { cwd: assetsFolder });
  const porter = join(stdout.trim(), "test/images/agnhost/porter");
  for (const name of agnhostFiles) await writeFile(join(folder, name), await readFile(join(porter, name)));
}

/** The files that the image of agnhost has in its root: its web servers use or show them. */
export const agnhostFiles = ["localhost.crt", "localhost.key"];

/**
 * The response of /version contains these. Without them it is v0.0.0-master.
 *
 * @param {import("./assets.mjs").Pins} pins
 */
function stamped(pins) {
  const [major, minor] = pins.kubernetes.split(".");
  const version = "k8s.io/component-base/version";
  return [
    "-s -w",
    `-X ${version}.gitVersion=v${pins.kubernetes}`,
    `-X ${version}.gitMajor=${major}`,
    `-X ${version}.gitMinor=${minor}`,
    `-X ${version}.gitTreeState=clean`,
  ].join(" ");
}

/**
 * @param {object} options
 * @param {string} options.go path of the go command
 * @param {string} options.folder where the executables go
 * @param {string} options.moduleFolder where go.mod is
 * @param {Program[]} options.programs
 * @param {(line: string) => void} [options.report] progress, by default to stderr
 */
export async function buildPrograms({
  go,
  folder,
  moduleFolder,
  programs,
  report = (line) => console.error(line),
}) {
  await mkdir(folder, { recursive: true });
  const unlock = await lock(join(folder, "building"), report);
  try {
    for (const program of programs) {
      const target = join(folder, program.name);
      // The run that held the lock before may have built it.
      if (await exists(target)) continue;
      report(
        `building ${program.name} ${program.version} with go (only once, takes some minutes) into ${folder}`,
      );
      const partial = `${target}.partial-${process.pid}`;
      try {
        await goBuild({ go, ...program, moduleFolder, output: partial, report });
        await rename(partial, target);
      } finally {
        await rm(partial, { force: true });
      }
    }
  } finally {
    await unlock();
  }
}

/**
 * @param {Program & { go: string, moduleFolder: string, output: string, report: (line: string) => void }} options
 */
async function goBuild({ go, name, source, ldflags, test, otherwise, moduleFolder, output, report }) {
  const verb = test ? ["test", "-c"] : ["build", "-v"];
  const args = [...verb, "-mod=readonly", "-trimpath", "-ldflags", ldflags, "-o", output, source];
  // nice keeps the machine usable during the build.
  const child = spawn("nice", ["-n", "10", go, ...args], {
    cwd: moduleFolder,
    env: { ...process.env, CGO_ENABLED: "0", GOWORK: "off" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const started = performance.now();
  const elapsed = () => `${Math.round((performance.now() - started) / 1000)} s`;
  let packages = 0;
  /** @type {string[]} */
  const last = [];
  const lines = createInterface({ input: child.stderr });
  lines.on("line", (line) => {
    packages += 1;
    last.push(line);
    if (last.length > keptLines) last.shift();
  });
  const progress = setInterval(
    () => report(`building ${name}: ${packages} packages, ${elapsed()}`),
    progressEveryMs,
  );
  // A build that outlives its run would compete with the next one.
  const onExit = () => child.kill("SIGKILL");
  process.once("exit", onExit);
  try {
    const code = await new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, signal) => resolve(code ?? signal));
    });
    if (code !== 0) {
      throw new Error(
        `Cannot build ${name}: go ${verb[0]} ended with ${code}. It needs Go 1.26 or later and a reachable module proxy (go env GOPROXY)${otherwise ? `; or ${otherwise}` : ""}:\n${last.join("\n")}`,
      );
    }
  } finally {
    clearInterval(progress);
    process.off("exit", onExit);
  }
  report(`built ${name} in ${elapsed()}`);
}

/**
 * The holder touches the file while it runs. A process id would not work: a cache outlives reboots and containers, after
 * which another process may have the same id.
 *
 * @param {string} file
 * @param {(line: string) => void} report
 * @returns {Promise<() => Promise<void>>}
 */
async function lock(file, report) {
  for (let waiting = false; ; ) {
    try {
      await writeFile(file, "", { flag: "wx" });
      const touch = setInterval(() => {
        const now = new Date();
        // If the file is missing, another run took over, and both results are correct.
        void utimes(file, now, now).catch(() => {});
      }, lockTouchMs);
      return () => {
        clearInterval(touch);
        return rm(file, { force: true });
      };
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST") throw error;
    }
    const touched = await stat(file).catch(() => undefined);
    if (touched && Date.now() - touched.mtimeMs > lockStaleMs) {
      await rm(file, { force: true });
    } else {
      if (!waiting) report(`waiting for another run that builds the same executables (${file})`);
      waiting = true;
      await delay(lockPollMs);
    }
  }
}

/** @param {string} file */
function exists(file) {
  return stat(file).then(
    () => true,
    () => false,
  );
}
