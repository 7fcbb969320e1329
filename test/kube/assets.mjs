// @ts-check
/**
 * Finds kube-apiserver and etcd: in $KUBEBUILDER_ASSETS (the convention of envtest), then in PATH, then in our cache.
 * Otherwise builds them with `go`. Plain JavaScript, because both vitest and plain Node 20 run it.
 */
import { constants } from "node:fs";
import { access, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { buildAssets } from "./build.mjs";

/**
 * @typedef {object} Assets
 * @property {string} kubeApiServer path of the executable
 * @property {string} etcd path of the executable
 * @property {"KUBEBUILDER_ASSETS" | "PATH" | "cache" | "build"} source
 *
 * @typedef {object} Pins
 * @property {string} kubernetes version without the leading v
 * @property {string} etcd version without the leading v
 */

const names = /** @type {const} */ (["kube-apiserver", "etcd"]);

/**
 * Finds the executables, and builds them if they are not found.
 *
 * @param {object} [options]
 * @param {NodeJS.ProcessEnv} [options.env]
 * @param {typeof buildAssets} [options.build]
 * @returns {Promise<Assets>}
 */
export async function findAssets({ env = process.env, build = buildAssets } = {}) {
  const given = env.KUBEBUILDER_ASSETS;
  if (given) {
    const found = await inFolders([given]);
    // A fallback to other executables would test another version than the user requested.
    if (found.missing.length > 0) {
      throw new Error(
        `Cannot start the cluster: KUBEBUILDER_ASSETS has no executable ${found.missing.join(" and no ")}: ${given}. Set it to a folder that has both, or unset it`,
      );
    }
    return assets(found, "KUBEBUILDER_ASSETS");
  }

  const onPath = await inFolders(folders(env));
  if (onPath.missing.length === 0) return assets(onPath, "PATH");

  const pins = await readPins();
  const cache = cacheFolder(env, pins);
  const cached = await inFolders([cache]);
  if (cached.missing.length === 0) return assets(cached, "cache");

  const go = await findExecutable("go", folders(env));
  if (!go) {
    throw new Error(
      `Cannot start the cluster: ${names.join(" and ")} are not in KUBEBUILDER_ASSETS (unset), PATH or ${cache}, and there is no go command to build them. Either install Go 1.26 or later, or run "setup-envtest use ${pins.kubernetes.replace(/\.\d+$/, "")}" and set KUBEBUILDER_ASSETS to the folder that it prints`,
    );
  }
  await build({ go, folder: cache, pins });
  return assets(await inFolders([cache]), "build");
}

/**
 * The versions that test/kube/assets/go.mod pins. They are defined nowhere else.
 * @returns {Promise<Pins>}
 */
export async function readPins() {
  const goMod = await readFile(new URL("./assets/go.mod", import.meta.url), "utf8");
  /** @param {string} module */
  const version = (module) => {
    const found = new RegExp(`^\\s*(?:require )?${module.replaceAll(".", "\\.")} v(\\S+)`, "m").exec(goMod);
    if (!found?.[1])
      throw new Error(`Cannot read the version of ${module}: test/kube/assets/go.mod does not contain it`);
    return found[1];
  };
  return { kubernetes: version("k8s.io/kubernetes"), etcd: version("go.etcd.io/etcd/server/v3") };
}

/**
 * Both versions are part of the name, so a change of either causes a new build.
 *
 * @param {NodeJS.ProcessEnv} env
 * @param {Pins} pins
 */
export function cacheFolder(env, pins) {
  return join(cacheRoot(env), `kube-${pins.kubernetes}-etcd-${pins.etcd}`);
}

/**
 * The cache of everything that this repository builds. It is outside the repository, so that a fresh clone can use it.
 *
 * @param {NodeJS.ProcessEnv} env
 */
export function cacheRoot(env) {
  return join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache"), "tenure");
}

/** @param {NodeJS.ProcessEnv} env the folders of its PATH */
export function folders(env) {
  return (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
}

/** @param {string[]} folders */
async function inFolders(folders) {
  const [kubeApiServer, etcd] = await Promise.all(names.map((name) => findExecutable(name, folders)));
  const missing = [...(kubeApiServer ? [] : [names[0]]), ...(etcd ? [] : [names[1]])];
  return { kubeApiServer, etcd, missing };
}

/**
 * @param {Awaited<ReturnType<typeof inFolders>>} found
 * @param {Assets["source"]} source
 * @returns {Assets}
 */
function assets({ kubeApiServer, etcd }, source) {
  if (!kubeApiServer || !etcd) throw new Error("Cannot start the cluster: the build produced no executables");
  return { kubeApiServer, etcd, source };
}

/**
 * @param {string} name
 * @param {string[]} folders
 * @returns {Promise<string | undefined>}
 */
export async function findExecutable(name, folders) {
  for (const folder of folders) {
    const file = join(folder, name);
    const usable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (usable) return file;
  }
  return undefined;
}
