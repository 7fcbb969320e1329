// @ts-check
/**
 * Puts the command and everything that it imports into few files: packages/cli/bundle for npm, and one CommonJS file for the single
 * binary. Node spends about a millisecond on every module that it loads, and an installation without dependencies is quick.
 * What is imported dynamically stays a chunk that only its command loads. See docs/adr/0026-the-command-is-bundled.md.
 *
 *     node scripts/bundle-command.mjs
 */
import { readFileSync } from "node:fs";
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { compileCode } from "./compile-code.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const cli = `${root}packages/cli/`;

/** These contain native code, and stay packages of their own. */
const external = [/^node:/, "classic-level", "pg-native"];

/** The files that the command reads while it runs: their folder in the bundle, and where they come from. */
export const dataFiles = [
  ...["bootstrap.json", "descriptions.json", "protobuf.json", "types.json"].map((file) => ({
    folder: "gen",
    source: `${root}packages/sandbox/gen/${file}`,
  })),
  ...["page/index.html", "page/page.css", "bundle/page.js"].map((file) => ({
    folder: "page",
    source: `${root}packages/ui/${file}`,
  })),
];

/** Our packages as tsc left them, under the names by which they import each other: their own bundles are for users of the libraries. */
const resolveOwn = {
  name: "resolve-own-packages",
  /** @param {string} id */
  resolveId(id) {
    const [, name, entry = "index"] = /^@tenure\/([a-z]+)(?:\/([a-z-]+))?$/.exec(id) ?? [];
    return name ? `${root}packages/${name}/dist/${entry}.js` : undefined;
  },
};

/**
 * Imports each name of our packages from the module that has it. Through index.js, one name would bring the whole package into the
 * file of whoever imports it.
 */
const importDirectly = {
  name: "import-directly",
  /** @param {string} code @param {string} id */
  transform(code, id) {
    if (!id.startsWith(`${root}packages/`)) return undefined;
    const direct = code.replace(
      /^import \{ ([^}]+) \} from "(@tenure\/[a-z/-]+)";$/gm,
      (_line, names, from) => {
        const places = exportsOf(resolveOwn.resolveId(from) ?? "");
        return names
          .split(/,\s*/)
          .filter(Boolean)
          .map((/** @type {string} */ name) => {
            const [exported = ""] = name.split(" as ");
            return `import { ${name} } from ${JSON.stringify(places.get(exported) ?? from)};`;
          })
          .join("");
      },
    );
    // No line moves.
    return { code: direct, map: null };
  },
};

/** Which module has each name that an entry point passes on. @param {string} entry @returns {Map<string, string>} */
function exportsOf(entry) {
  const found = new Map();
  for (const [, names = "", file = ""] of readFileSync(entry, "utf8").matchAll(
    /^export \{ ([^}]+) \} from "\.\/([^"]+)";$/gm,
  ))
    for (const name of names.split(/,\s*/))
      if (!name.includes(" as ")) found.set(name, join(dirname(entry), file));
  return found;
}

/**
 * Corrects the places of files, which are other ones in a bundle.
 * @param {{ isBinary: boolean, version: string }} options
 */
const relocate = ({ isBinary, version }) => ({
  name: "relocate-files",
  /** @param {string} code @param {string} id */
  transform(code, id) {
    if (id === `${cli}dist/version.js`) return `export const version = ${JSON.stringify(version)};`;
    if (id.endsWith("/supervisor/dist/start-watchdog.js"))
      // A binary is its own watchdog: see binaryEntry.
      return isBinary
        ? replaced(
            code,
            /function programFile\(\) \{[\s\S]*?\n\}/,
            `function programFile() { return "${watchdogArgument}"; }`,
          )
        : replaced(code, '"./watchdog/main.js"', '"./watchdog.cjs"');
    if (id.endsWith("/ui/dist/server/assets.js"))
      return isBinary
        ? replaced(
            replaced(
              code,
              'readFile(new URL(place, import.meta.url), "utf8")',
              'getAsset(place.split("/").at(-1), "utf8")',
            ),
            /import \{ readFile \} from "node:fs\/promises";/,
            'import { getAsset } from "node:sea";',
          )
        : replaced(code, /"\.\.\/\.\.\/(?:page|bundle)\//g, '"./page/');
    if (!id.includes("/sandbox/dist/") || !code.includes("../../gen/")) return undefined;
    return isBinary
      ? replaced(
          replaced(code, /new URL\("\.\.\/\.\.\/gen\/([a-z]+\.json)", import\.meta\.url\)/g, '"$1"'),
          /import \{ readFileSync \} from "node:fs";/,
          'import { getAsset } from "node:sea"; const readFileSync = (name) => getAsset(name, "utf8");',
        )
      : replaced(code, "../../gen/", "./gen/");
  },
});

/** @param {string} code @param {string | RegExp} what @param {string} by */
function replaced(code, what, by) {
  const result = typeof what === "string" ? code.replaceAll(what, by) : code.replace(what, by);
  if (result === code) throw new Error(`the bundle does not find ${what} any more`);
  return result;
}

/** The argument with which a binary starts itself as the watchdog. */
const watchdogArgument = "tenure:watchdog";

/** Before it there may be flags for Node, which a binary does not read. */
const binaryEntry = `const at = process.argv.indexOf("${watchdogArgument}");
if (at >= 2 && process.argv.slice(2, at).every((word) => word.startsWith("--"))) {
  process.argv.splice(1, at, process.execPath);
  import("${root}packages/supervisor/dist/watchdog/main.js");
} else import("${cli}dist/main.js");
`;

/** Native code cannot be in a binary. */
const noClassicLevel = {
  name: "no-classic-level",
  resolveId: (/** @type {string} */ id) => (id === "classic-level" ? "no-classic-level" : undefined),
  load: (/** @type {string} */ id) =>
    id === "no-classic-level"
      ? `export class ClassicLevel { constructor() { throw new Error("The single binary cannot store data on disk. Leave out --data-dir, use --store with etcd, or install tenure with npm"); } }`
      : undefined,
};

const entryName = "tenure-binary-entry";
const virtualEntry = {
  name: "binary-entry",
  resolveId: (/** @type {string} */ id) => (id === entryName ? id : undefined),
  load: (/** @type {string} */ id) => (id === entryName ? binaryEntry : undefined),
};

async function ownVersion() {
  return JSON.parse(await readFile(`${cli}package.json`, "utf8")).version;
}

/**
 * What most of the other commands need. The rest is large, or seldom needed, and stays in files of its own.
 */
const ofManyCommands =
  /\/packages\/cli\/dist\/(?!main|stores\/|completion\/|commands\/(?!run\/|.*\bdeclare)(?!manifests\/options|probe\/probe|sidecar\/classic|elect\/single)).*\.js$/;

/**
 * The files of the bundle that most commands need. Every file costs time, and so does everything in it. Modules in one file are still
 * evaluated only when they are imported.
 */
const groups = [
  { name: "start", test: /\/packages\/cli\/dist\/(start\/platform|version)\.js$/ },
  // `tenure run` starts its watchdog before it loads the rest.
  { name: "start-watchdog", test: /\/packages\/supervisor\/dist\/start-watchdog\.js$/ },
  // It starts with every pod, so this file has what it needs and nothing else.
  { name: "run", test: /\/packages\/cli\/dist\/(platform|command-line|commands\/run\/(run|declare))\.js$/ },
  { name: "commands", test: ofManyCommands },
].map((group, at) => ({ ...group, priority: 9 - at }));

/** Writes packages/cli/bundle. */
export async function bundleForNpm() {
  const bundle = await rolldown({
    input: { tenure: `${cli}dist/main.js` },
    platform: "node",
    external,
    plugins: [importDirectly, resolveOwn, relocate({ isBinary: false, version: await ownVersion() })],
    // No module of ours does anything when it is imported.
    treeshake: { moduleSideEffects: [{ test: /\/packages\/[a-z]+\/dist\/(?!main)/, sideEffects: false }] },
    logLevel: "silent",
  });
  const { output } = await bundle.write({
    dir: `${cli}bundle`,
    // Node starts a CommonJS program six to ten milliseconds sooner.
    format: "cjs",
    dynamicImportInCjs: false,
    entryFileNames: "[name].cjs",
    cleanDir: true,
    sourcemap: true,
    // A shorter text takes less time to read. The source maps have the names.
    minify: true,
    chunkFileNames: "[name].cjs",
    codeSplitting: { groups },
  });
  await bundle.close();
  await bundleAlone(`${root}packages/supervisor/dist/watchdog/main.js`, "watchdog.cjs", "cjs");
  await bundleAlone(`${cli}dist/index.js`, "index.js", "esm");
  for (const { folder, source } of dataFiles) {
    await mkdir(`${cli}bundle/${folder}`, { recursive: true });
    await copyFile(source, `${cli}bundle/${folder}/${basename(source)}`);
  }
  await writeFile(`${cli}bundle/THIRD-PARTY-LICENSES.txt`, await licencesOf(output));
  compileCode(`${cli}bundle`);
}

/**
 * The watchdog, which must start quickly and need little memory, and the module that other programs import. They share no file with
 * the command.
 * @param {string} input @param {string} file @param {"esm" | "cjs"} format
 */
async function bundleAlone(input, file, format) {
  const bundle = await rolldown({
    input,
    platform: "node",
    external,
    plugins: [resolveOwn],
    logLevel: "silent",
  });
  await bundle.write({ file: `${cli}bundle/${file}`, format, sourcemap: true, codeSplitting: false });
  await bundle.close();
}

/** The licences of the packages whose code is in the bundle. @param {readonly object[]} output */
async function licencesOf(output) {
  const packages = new Set(
    output
      .flatMap((each) => ("moduleIds" in each ? /** @type {string[]} */ (each.moduleIds) : []))
      .map((id) => /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1])
      .filter((folder) => folder !== undefined),
  );
  const texts = [...packages].sort().map(async (folder) => {
    const { name, version, license } = JSON.parse(await readFile(`${folder}/package.json`, "utf8"));
    const files = (await readdir(folder)).filter((file) => /^(licen[cs]e|notice)/i.test(file));
    const words = await Promise.all(files.map((file) => readFile(`${folder}/${file}`, "utf8")));
    return `${name} ${version} (${license})\n\n${words.join("\n").trim() || "The package has no file with its licence."}\n`;
  });
  return (await Promise.all(texts)).join(`\n${"-".repeat(80)}\n\n`);
}

/** The whole command as one CommonJS program, for a single binary. @returns {Promise<string>} */
export async function bundleForBinary() {
  const bundle = await rolldown({
    input: entryName,
    platform: "node",
    external: [/^node:/, "pg-native"],
    plugins: [
      virtualEntry,
      noClassicLevel,
      resolveOwn,
      relocate({ isBinary: true, version: await ownVersion() }),
    ],
    logLevel: "silent",
  });
  const { output } = await bundle.generate({ format: "cjs", codeSplitting: false, minify: true });
  await bundle.close();
  if (output.length !== 1) throw new Error("the code of the binary must be one file");
  return output[0].code;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundleForNpm();
