// @ts-check
/**
 * Finds the tools of Kubernetes' users: helm, and the kubectl of the newest pinned Kubernetes. Builds what is missing with `go` into
 * the cache. Undefined without `go`, because most developers have no use for them.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { cacheFolder, cacheRoot, findExecutable, folders, readPins } from "./assets.mjs";
import { buildKubectl } from "./build.mjs";

const helmVersion = "3.22.0";

/** $TENURE_HELM, or helm in PATH or in the cache. */
export async function findHelm(env = process.env) {
  if (env.TENURE_HELM) return env.TENURE_HELM;
  const folder = join(cacheRoot(env), `helm-${helmVersion}`);
  const found = await findExecutable("helm", [...folders(env), folder]);
  if (found) return found;
  const go = await findExecutable("go", folders(env));
  if (!go) return undefined;
  console.error(`building helm ${helmVersion} with go (only once, takes some minutes) into ${folder}`);
  const source = `helm.sh/helm/v3/cmd/helm@v${helmVersion}`;
  // go renames the finished executable into its place.
  await promisify(execFile)("nice", ["-n", "10", go, "install", "-trimpath", "-ldflags=-s -w", source], {
    env: { ...env, GOBIN: folder, CGO_ENABLED: "0", GOWORK: "off" },
  });
  return join(folder, "helm");
}

/** The kubectl of the newest pinned Kubernetes, beside the one of the machine. */
export async function findNewestKubectl(env = process.env) {
  const pins = await readPins();
  const folder = cacheFolder(env, pins);
  const found = await findExecutable("kubectl", [folder]);
  if (found) return found;
  const go = await findExecutable("go", folders(env));
  if (!go) return undefined;
  await buildKubectl({ go, folder, pins });
  return join(folder, "kubectl");
}
