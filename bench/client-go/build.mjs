// @ts-check
/** Builds the Go candidate once, into the same cache as the servers of test/kube. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheRoot, findExecutable, folders } from "../../test/kube/assets.mjs";
import { buildPrograms } from "../../test/kube/build.mjs";

const moduleFolder = fileURLToPath(new URL(".", import.meta.url));
const name = "candidate";

/**
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<{ path: string, version: string }>} the executable and its version of client-go
 */
export async function buildGoCandidate(env = process.env) {
  const [goMod, goSum, main] = await Promise.all(
    ["go.mod", "go.sum", "main.go"].map((file) => readFile(join(moduleFolder, file), "utf8")),
  );
  const version = /k8s\.io\/client-go v(\S+)/.exec(goMod ?? "")?.[1] ?? "unknown";
  // The folder name contains a hash of the source, so a change causes a new build, and two checkouts do not overwrite each other.
  const hash = createHash("sha256").update(`${goMod}\n${goSum}\n${main}`).digest("hex").slice(0, 12);
  const folder = join(cacheRoot(env), `client-go-${version}-${hash}`);
  const path = join(folder, name);
  if (await findExecutable(name, [folder])) return { path, version };
  const go = await findExecutable("go", folders(env));
  if (!go) {
    throw new Error(
      `Cannot build the client-go candidate: go is not on PATH, and there is no earlier build in ${folder}; install Go 1.26 or later`,
    );
  }
  await buildPrograms({
    go,
    folder,
    moduleFolder,
    programs: [{ name, version: `with client-go ${version}`, source: ".", ldflags: "-s -w" }],
  });
  return { path, version };
}
