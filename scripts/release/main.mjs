// @ts-check
/**
 * Makes a release ready: packs the packages, checks them, builds the binaries and writes what is published with them. Without
 * --dry-run it then publishes the packages to npm.
 *
 *     npm run release -- --dry-run [--repository URL] [--out FOLDER] [--no-binaries]
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { parseArgs, promisify } from "node:util";
import { buildBinaries } from "./binary.mjs";
import { checkPackages, checkSizes } from "./check.mjs";
import { krewManifest } from "./krew.mjs";
import { provenanceNeeds, repositoryOf } from "./provenance.mjs";
import { licenceProblems, productionComponents, sbom } from "./sbom.mjs";
import { packPackages, root } from "./stage.mjs";

const run = promisify(execFile);
const { values } = parseArgs({
  options: {
    "dry-run": { type: "boolean", default: false },
    repository: { type: "string" },
    out: { type: "string", default: join(root, "release") },
    binaries: { type: "boolean", default: true },
  },
  allowNegative: true,
});
const isDryRun = values["dry-run"];
const out = resolve(values.out);
const repository = repositoryOf(values.repository, process.env);
/** @type {string[]} */
const problems = [];

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });

heading("Packages");
const packed = await packPackages(out, { repository });
problems.push(...checkSizes(packed));

heading("publint and attw");
problems.push(...(await checkPackages(packed)));

heading("Licences of dependencies, and the bill of materials");
const components = await productionComponents();
const version = packed.find(({ name }) => name === "tenure")?.version ?? "";
problems.push(...licenceProblems(components));
await writeFile(join(out, "sbom.cdx.json"), sbom(version, components));
console.log(`sbom.cdx.json: ${components.length} packages, CycloneDX 1.6`);

if (values.binaries) {
  heading("Binaries");
  const archives = await archiveBinaries();
  await writeFile(
    join(out, "SHA256SUMS"),
    archives.map(({ archive, sha256 }) => `${sha256}  ${archive}\n`).join(""),
  );
  if (repository === undefined)
    console.log("no manifest for krew, because the address of the repository is not known");
  else await writeFile(join(out, "krew.yaml"), krewManifest(version, repository, archives));
}

heading("Provenance");
const needs = provenanceNeeds(repository, process.env);
for (const { is, text } of needs) console.log(`${is ? "ok     " : "missing"}  ${text}`);

heading("Result");
for (const problem of problems) console.log(`problem: ${problem}`);
if (problems.length > 0) process.exitCode = 1;
else if (isDryRun) console.log(`${packed.length} packages are ready in ${out}. Nothing was published.`);
else if (needs.some(({ is }) => !is)) {
  console.log(
    "Nothing was published: npm would refuse the provenance. Run this in CI, or see what is missing above.",
  );
  process.exitCode = 1;
} else await publish();

async function archiveBinaries() {
  const built = await buildBinaries(join(out, "binaries"));
  const archives = [];
  for (const { arch, file, bytes } of built) {
    const archive = `tenure-linux-${arch}.tar.gz`;
    const fixed = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0"];
    const names = ["--transform", `s,^${basename(file)}$,tenure,`, basename(file), "LICENSE", "LICENSE.node"];
    await run("tar", ["-C", join(out, "binaries"), ...fixed, "-czf", join(out, archive), ...names]);
    const sha256 = createHash("sha256")
      .update(await readFile(join(out, archive)))
      .digest("hex");
    console.log(`${archive}: the program has ${(bytes / 1e6).toFixed(0)} MB`);
    archives.push({ arch, archive, sha256 });
  }
  return archives;
}

/** The packages that others need come first. npm asks for a second factor itself. */
async function publish() {
  for (const { file, name } of packed) {
    console.log(`publishing ${name}`);
    await run("npm", ["publish", file, "--provenance", "--access", "public"]);
  }
}

/** @param {string} text */
function heading(text) {
  console.log(`\n${text}`);
}
