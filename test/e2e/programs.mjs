// @ts-check
/** Finds the programs of the end-to-end tests in the cache, and builds those that are missing with `go`. */
import { access } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder, findExecutable, folders, readPins } from "../kube/assets.mjs";
import { agnhostFiles, buildEndToEnd } from "../kube/build.mjs";

/**
 * @typedef {object} Programs
 * @property {string} version of Kubernetes, without the leading v
 * @property {string} endToEnd path of e2e.test
 * @property {string} controllerManager path of kube-controller-manager
 * @property {string} scheduler path of kube-scheduler
 * @property {string} agnhost path of the program in the image of most specs
 * @property {string[]} agnhostFiles paths of the files that its image has in its root
 */

/**
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<Programs>}
 */
export async function findPrograms(env = process.env) {
  const pins = await readPins();
  const folder = cacheFolder(env, pins);
  const names = ["e2e.test", "kube-controller-manager", "kube-scheduler", "agnhost"];
  const found = await Promise.all(names.map((name) => findExecutable(name, [folder])));
  const files = agnhostFiles.map((name) => join(folder, name));
  const hasFiles = await Promise.all(files.map((file) => access(file))).then(
    () => true,
    () => false,
  );
  if (found.includes(undefined) || !hasFiles) {
    const go = await findExecutable("go", folders(env));
    if (!go) {
      throw new Error(
        `Cannot run the end-to-end tests: ${names.join(", ")} are not in ${folder}, and there is no go command to build them. Install Go 1.26 or later`,
      );
    }
    await buildEndToEnd({ go, folder, pins });
  }
  return {
    version: pins.kubernetes,
    endToEnd: join(folder, "e2e.test"),
    controllerManager: join(folder, "kube-controller-manager"),
    scheduler: join(folder, "kube-scheduler"),
    agnhost: join(folder, "agnhost"),
    agnhostFiles: files,
  };
}
