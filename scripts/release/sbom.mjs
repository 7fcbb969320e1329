// @ts-check
/** A software bill of materials in the format CycloneDX, and the licences of what is in it, from package-lock.json. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { allowedLicences, publicPackages } from "./packages.mjs";
import { root } from "./stage.mjs";

/**
 * @typedef {{ name: string, version: string, license: string, integrity?: string, path: string, dependencies: readonly string[] }} Component
 */

/** Every package from the registry that a user of our packages gets, also inside of a bundle. @returns {Promise<Component[]>} */
export async function productionComponents() {
  const { packages } = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8"));
  /** @type {Map<string, Component>} */
  const found = new Map();
  /** As Node finds it: in the nearest node_modules. @param {string} from @param {string} name */
  const resolve = (from, name) => {
    for (let at = from; ; at = at.includes("/") ? at.slice(0, at.lastIndexOf("/")) : "") {
      const path = `${at === "" ? "" : `${at}/`}node_modules/${name}`;
      if (packages[path]) return path;
      if (at === "") return undefined;
    }
  };
  /** @param {string} path @param {any} entry */
  const visit = async (path, entry) => {
    const names = Object.keys({ ...entry.dependencies, ...entry.optionalDependencies });
    for (const name of names) {
      const target = resolve(path, name);
      // Optional packages for other platforms are not installed everywhere, but they are in the lock file.
      if (target === undefined || packages[target].link || found.has(target)) continue;
      const installed = packages[target];
      found.set(target, {
        name,
        version: installed.version,
        license: installed.license ?? (await licenceIn(target)),
        integrity: installed.integrity,
        path: target,
        dependencies: Object.keys({ ...installed.dependencies }),
      });
      await visit(target, installed);
    }
  };
  for (const folder of Object.keys(publicPackages)) {
    const entry = packages[`packages/${folder}`];
    // The command contains what it imports, so what it needs to be built is in it too.
    const bundled = folder === "cli" ? { ...entry.dependencies, ...bundledOf(entry) } : entry.dependencies;
    await visit(`packages/${folder}`, { ...entry, dependencies: bundled });
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** @param {any} entry */
function bundledOf(entry) {
  return Object.fromEntries(
    Object.entries(entry.devDependencies ?? {}).filter(([name]) => !name.startsWith("@types/")),
  );
}

/** @param {string} path */
async function licenceIn(path) {
  const text = await readFile(join(root, path, "package.json"), "utf8").catch(() => "{}");
  const { license } = JSON.parse(text);
  return typeof license === "string" ? license : (license?.type ?? "unknown");
}

/** @param {readonly Component[]} components @returns {string[]} one sentence for each package that may not be published */
export function licenceProblems(components) {
  return components
    .filter(({ license }) => !allowed(license))
    .map(
      ({ name, version, license }) =>
        `${name} ${version} has the licence ${license}, which is not in the list`,
    );
}

/** `(MIT OR GPL-3.0)`: one is enough. @param {string} license */
function allowed(license) {
  return license
    .replace(/[()]/g, "")
    .split(/ OR /i)
    .some((choice) => choice.split(/ AND /i).every((each) => allowedLicences.includes(each.trim())));
}

/** @param {string} version @param {readonly Component[]} components */
export function sbom(version, components) {
  const purl = (/** @type {{ name: string, version: string }} */ { name, version: of }) =>
    `pkg:npm/${name.replace("@", "%40")}@${of}`;
  const own = { name: "tenure", version };
  const document = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify([version, components]))}`,
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": purl(own),
        name: "tenure",
        version,
        purl: purl(own),
        licenses: [{ license: { id: "Apache-2.0" } }],
      },
    },
    components: components.map((component) => ({
      type: "library",
      "bom-ref": component.path,
      name: component.name,
      version: component.version,
      purl: purl(component),
      licenses: [
        /^[\w.+-]+$/.test(component.license)
          ? { license: { id: component.license } }
          : { expression: component.license.replace(/^\((.*)\)$/, "$1") },
      ],
      ...(component.integrity && { hashes: [hashOf(component.integrity)] }),
    })),
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

/** @param {string} integrity such as `sha512-BASE64` */
function hashOf(integrity) {
  const [algorithm = "", base64 = ""] = integrity.split("-", 2);
  return {
    alg: algorithm.toUpperCase().replace("SHA", "SHA-"),
    content: Buffer.from(base64, "base64").toString("hex"),
  };
}

/** The same contents give the same number, so that a build can be repeated. @param {string} text */
function uuidOf(text) {
  const hex = createHash("sha256").update(text).digest("hex");
  const variant = ((Number.parseInt(hex[16] ?? "0", 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
