// Puts each library package into a few files. Node spends about a millisecond on every module of a program; the packages
// of an election have some forty that are always needed, and a program should not start later because it takes part in an election.
// Packages in `dual` also get a CommonJS file and its types, for tools that cannot load ES modules: see docs/adr/0020-commonjs-beside-es-modules.md.
import { copyFile, cp, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** The entry points of each package, as tsc left them in dist. What is imported dynamically stays a file of its own. */
const packages = {
  base: { index: "index.js", "virtual-clock": "virtual-clock.js" },
  core: { index: "index.js" },
  kube: { index: "index.js", internal: "internal.js" },
  election: { index: "index.js", internal: "internal.js", opentelemetry: "opentelemetry.js" },
  // The watchdog is a separate program. The supervisor looks for it under this name in its own folder.
  supervisor: {
    index: "index.js",
    internal: "internal.js",
    options: "options.js",
    "start-watchdog": "start-watchdog.js",
    "watchdog/main": "watchdog/main.js",
  },
  traffic: { index: "index.js", internal: "internal.js" },
  status: { index: "index.js", internal: "internal.js" },
  sandbox: { index: "index.js", internal: "internal.js" },
  testkit: { index: "index.js" },
};
/**
 * The modules that two entry points of a package share, and those of its `index` with them, in one file. Each file that imports
 * another package has Node resolve it again. After some fifty such steps V8 compiles Node's resolver, and 3.6 MB of the compiler
 * stay in the memory of a program that waits.
 */
const shared = {
  base: /\/packages\/base\/dist\/(?!index|virtual-clock)/,
  kube: /\/packages\/kube\/dist\/(?!index|internal|credentials\/(exec-plugin|in-cluster)|kubeconfig|http\/tunnel)/,
  election: /\/packages\/election\/dist\/(?!index|internal|opentelemetry|worker)/,
};
/** Packages that the bundle of one package imports, and others contain. */
const dependencies = { sandbox: ["classic-level", "js-yaml"] };
const dual = ["base", "core", "kube", "election", "testkit"];
const root = fileURLToPath(new URL("../", import.meta.url));

/** V8 keeps the text of a program in memory, with two bytes for each character if one of them is not in Latin-1. */
const inAscii = {
  name: "in-ascii",
  generateBundle: (_, files) => {
    for (const file of Object.values(files)) file.code = file.code?.replace(/[^\0-\x7f]/g, escapeUnit);
  },
};

/** The sandbox reads its types and initial objects from files, which are one folder nearer to a bundle than to its sources. */
const findGenerated = {
  name: "find-generated",
  transform: (code, id) =>
    id.includes("/sandbox/dist/") && code.includes('"../../gen/')
      ? // No line moves.
        { code: code.replaceAll('"../../gen/', '"../gen/'), map: null }
      : undefined,
};

const embedThread = await newEmbedThread();
for (const [name, entries] of Object.entries(packages)) {
  const folder = `${root}packages/${name}/`;
  const bundle = await rolldown({
    input: Object.fromEntries(
      Object.entries(entries).map(([entry, file]) => [entry, `${folder}dist/${file}`]),
    ),
    platform: "node",
    // Packages stay apart, so that there is one class KubeError however many packages use it.
    external: [/^node:/, /^@tenure\//, "prom-client", "@opentelemetry/api", ...(dependencies[name] ?? [])],
    plugins: [embedThread, findGenerated, inAscii],
  });
  const output = {
    sourcemap: true,
    chunkFileNames: "[name].js",
    // The types have them for editors, and the source maps for readers.
    comments: { jsdoc: false },
    codeSplitting: shared[name] ? { groups: [{ name: "shared", test: shared[name] }] } : {},
  };
  await bundle.write({ ...output, dir: `${folder}bundle`, format: "esm", cleanDir: true });
  if (dual.includes(name)) {
    await bundle.write({ ...output, dir: `${folder}bundle/cjs`, format: "cjs", exports: "named" });
    await addTypes(folder);
  }
  await bundle.close();
}
await bundlePage();
// kube contains the part of it that reads a kubeconfig, and so does the code of the thread.
for (const name of ["kube", "election"])
  await copyFile(`${root}node_modules/js-yaml/LICENSE`, `${root}packages/${name}/bundle/LICENSE.js-yaml`);

function escapeUnit(unit) {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Replaces packages/election/src/worker/start-worker.ts by a module that needs no other file. */
async function newEmbedThread() {
  const code = await bundleThread();
  const text = `import { Worker } from "node:worker_threads";
const code = ${JSON.stringify(code)};
export function startWorker(workerData) {
  return new Worker(code, { eval: true, workerData });
}`;
  return {
    name: "embed-thread",
    load: (id) => (id.endsWith("/worker/start-worker.js") ? text : undefined),
  };
}

/** The thread of an election with everything that it imports: its code cannot find any module. */
async function bundleThread() {
  const bundle = await rolldown({
    input: `${root}packages/election/dist/worker/thread.js`,
    platform: "node",
    external: [/^node:/],
    // The packages name their bundles, which do not exist yet, or are those of an earlier build.
    resolve: { alias: Object.fromEntries(builtModules()) },
  });
  const { output } = await bundle.generate({ format: "cjs", codeSplitting: false, minify: true });
  await bundle.close();
  if (output.length !== 1) throw new Error("the code of the thread must be one file");
  return output[0].code;
}

/** What tsc left in dist, by the name under which other packages import it. */
function builtModules() {
  return Object.entries(packages).flatMap(([name, entries]) =>
    Object.entries(entries).map(([entry, file]) => [
      `@tenure/${name}${entry === "index" ? "" : `/${entry}`}`,
      `${root}packages/${name}/dist/${file}`,
    ]),
  );
}

/** The script of the page of `tenure ui`, in one file for the browser. */
async function bundlePage() {
  const folder = `${root}packages/ui/`;
  const bundle = await rolldown({ input: { page: `${folder}dist/page/main.js` }, platform: "browser" });
  await bundle.write({ dir: `${folder}bundle`, format: "esm", minify: true, cleanDir: true });
  await bundle.close();
}

/** The declarations once more, in a folder where TypeScript takes them as those of CommonJS modules. */
async function addTypes(folder) {
  await cp(`${folder}dist`, `${folder}bundle/cjs`, {
    recursive: true,
    filter: (path) => !/\.(js|map|tsbuildinfo)$/.test(path),
  });
  await writeFile(`${folder}bundle/cjs/package.json`, '{ "type": "commonjs" }\n');
}
