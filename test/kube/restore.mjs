// @ts-check
/** Saves snapshots of etcd, and restores them as an administrator would: with etcdutl, while all servers are stopped. */
import { execFile } from "node:child_process";
import { open, rm } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { cacheFolder, findExecutable, folders, readPins } from "./assets.mjs";
import { buildEtcdutl } from "./build.mjs";

const run = promisify(execFile);
/** What the documentation of Kubernetes suggests: more than the writes of a week. */
const bump = 1_000_000_000;

/**
 * Finds etcdutl, and builds it if it is not found.
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<string>} path of the executable
 */
export async function findEtcdutl(env = process.env) {
  const pins = await readPins();
  const cache = cacheFolder(env, pins);
  const given = env.KUBEBUILDER_ASSETS ? [env.KUBEBUILDER_ASSETS] : [];
  const found = await findExecutable("etcdutl", [...given, ...folders(env), cache]);
  if (found) return found;
  const go = await findExecutable("go", folders(env));
  if (!go)
    throw new Error(`Cannot restore etcd: etcdutl is not in PATH or ${cache}, and there is no go command`);
  await buildEtcdutl({ go, folder: cache, pins });
  return join(cache, "etcdutl");
}

/**
 * @param {string} etcdServer its URL
 * @param {string} file where the snapshot goes
 */
export async function saveSnapshot(etcdServer, file) {
  const response = await new Promise((resolve, reject) => {
    const post = request(`${etcdServer}/v3/maintenance/snapshot`, { method: "POST", agent: false }, resolve);
    post.once("error", reject);
    post.end("{}");
  });
  const output = await open(file, "w", 0o600);
  try {
    // One line of JSON for each part.
    for await (const line of createInterface({ input: response })) {
      const { result, error } = JSON.parse(line);
      if (error) throw new Error(`Cannot save a snapshot of etcd: ${error.message}`);
      await output.write(Buffer.from(result.blob ?? "", "base64"));
    }
  } finally {
    await output.close();
  }
}

/**
 * Replaces the data of a stopped etcd.
 *
 * @param {object} options
 * @param {string} options.etcdutl
 * @param {string} options.file the snapshot
 * @param {string} options.etcdFolder
 * @param {boolean} options.bumped whether revisions continue above all that were ever given; otherwise they fall
 */
export async function restoreSnapshot({ etcdutl, file, etcdFolder, bumped }) {
  await rm(etcdFolder, { recursive: true, force: true });
  const flags = bumped ? ["--bump-revision", String(bump), "--mark-compacted"] : [];
  await run(etcdutl, ["snapshot", "restore", file, "--data-dir", etcdFolder, ...flags]);
}
