// @ts-check
/**
 * Builds the image as an OCI archive, without a Docker engine and without a registry. The same sources and packages give the same bytes.
 *
 *     node scripts/image/build.mjs [--arch x64] [--out tenure.oci.tar]
 *
 * skopeo, podman and containerd read it: `skopeo copy oci-archive:tenure.oci.tar docker://REGISTRY/tenure:0.1.0`.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { root } from "../release/stage.mjs";
import { buildRootFileSystem, user } from "./root-file-system.mjs";
import { entriesIn, tar } from "./tar.mjs";

const architectures = { x64: "amd64", arm64: "arm64" };

/** @param {string} file where to write the archive @param {"x64" | "arm64"} arch @returns {Promise<string>} the digest of the manifest */
export async function buildImage(file, arch) {
  const work = await mkdtemp(join(tmpdir(), "tenure-image-"));
  try {
    const folder = join(work, "root");
    await buildRootFileSystem(folder, work, arch);
    const { version } = JSON.parse(await readFile(join(root, "packages/cli/package.json"), "utf8"));
    const { archive, digest } = ociArchive(tar(await entriesIn(folder), buildTime()), version, arch);
    await writeFile(file, archive);
    return digest;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Seconds since 1970: SOURCE_DATE_EPOCH, else the time of the commit, so that the same commit gives the same image. */
function buildTime() {
  const given = Number(process.env.SOURCE_DATE_EPOCH);
  if (Number.isSafeInteger(given) && given > 0) return given;
  try {
    return Number(execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: root, encoding: "utf8" }));
  } catch {
    return 0;
  }
}

/** @param {Buffer} layer a tar archive @param {string} version @param {"x64" | "arm64"} arch */
function ociArchive(layer, version, arch) {
  const created = new Date(buildTime() * 1000).toISOString().replace(".000", "");
  const compressed = gzipSync(layer, { level: 9 });
  const config = json({
    architecture: architectures[arch],
    os: "linux",
    created,
    config: {
      User: `${user}:${user}`,
      // tenure is process 1. A child that leaves orphans needs ["tini", "--", "tenure"] instead, because Node does not reap them.
      Entrypoint: ["tenure"],
      Cmd: ["--help"],
      Env: ["PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/home/nonroot", "NODE_ENV=production"],
      WorkingDir: "/home/nonroot",
      Labels: {
        "org.opencontainers.image.title": "tenure",
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.licenses": "Apache-2.0",
      },
    },
    rootfs: { type: "layers", diff_ids: [digestOf(layer)] },
    history: [{ created, created_by: "scripts/image/build.mjs" }],
  });
  const manifest = json({
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    config: described("application/vnd.oci.image.config.v1+json", config),
    layers: [described("application/vnd.oci.image.layer.v1.tar+gzip", compressed)],
  });
  const index = json({
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.index.v1+json",
    manifests: [
      {
        ...described("application/vnd.oci.image.manifest.v1+json", manifest),
        annotations: { "org.opencontainers.image.ref.name": version },
      },
    ],
  });
  const blobs = [config, manifest, compressed].map((content) => ({
    path: `blobs/sha256/${digestOf(content).slice(7)}`,
    mode: 0o644,
    content,
  }));
  const folders = ["blobs/", "blobs/sha256/"].map((path) => ({ path, mode: 0o755 }));
  const archive = tar(
    [
      ...folders,
      ...blobs,
      { path: "index.json", mode: 0o644, content: index },
      { path: "oci-layout", mode: 0o644, content: json({ imageLayoutVersion: "1.0.0" }) },
    ],
    0,
  );
  return { archive, digest: digestOf(manifest) };
}

/** @param {unknown} value */
const json = (value) => Buffer.from(JSON.stringify(value));

/** @param {Buffer} content */
const digestOf = (content) => `sha256:${createHash("sha256").update(content).digest("hex")}`;

/** @param {string} mediaType @param {Buffer} content */
const described = (mediaType, content) => ({ mediaType, digest: digestOf(content), size: content.length });

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: { arch: { type: "string", default: "x64" }, out: { type: "string", default: "tenure.oci.tar" } },
  });
  if (values.arch !== "x64" && values.arch !== "arm64") {
    console.error(`--arch must be x64 or arm64, but is ${values.arch}`);
    process.exit(2);
  }
  const digest = await buildImage(resolve(values.out), values.arch);
  console.log(`${values.out}  ${digest}`);
}
