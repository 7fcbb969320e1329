// @ts-check
/**
 * The files of the image: the C library, tini and a small shell from Debian's packages, Node from npm, and the command. Needs apt-get and
 * dpkg-deb, thus Debian or Ubuntu, and the network.
 */
import { execFile } from "node:child_process";
import { chmod, copyFile, cp, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { compileCode } from "../compile-code.mjs";
import { fetchPackage, nodeVersion } from "../release/binary.mjs";
import { packPackages, root } from "../release/stage.mjs";

const run = promisify(execFile);

/** Node needs the first three. A probe such as `cat /tmp/ready` and scripts need a shell. tini is for children that leave orphans. */
const debianPackages = ["libc6", "libgcc-s1", "libstdc++6", "busybox-static", "tini"];

/** What the image does not need of them. */
const unwanted = ["usr/share/lintian", "usr/share/man", "usr/share/bug", "usr/share/gcc", "usr/share/gdb"];
const unwantedInside = [/\/gconv$/, /\/(changelog|NEWS|README|NEWS\.Debian|changelog\.Debian)(\.gz)?$/];

/** The numbers are those of distroless images. The kubelet can verify that a number is not root. */
export const user = 65532;

const architectures = { x64: "amd64", arm64: "arm64" };

/** @param {string} folder an empty one @param {string} work @param {"x64" | "arm64"} arch */
export async function buildRootFileSystem(folder, work, arch) {
  await mkdir(folder, { recursive: true });
  const versions = await unpackDebian(folder, join(work, "debian"), architectures[arch]);
  await addBusybox(folder);
  const node = await fetchPackage(`node-linux-${arch}@${nodeVersion}`, join(work, "node"));
  await mkdir(join(folder, "usr/local/bin"), { recursive: true });
  await copyFile(join(node, "bin/node"), join(folder, "usr/local/bin/node"));
  await chmod(join(folder, "usr/local/bin/node"), 0o755);
  await addCommand(folder, join(work, "packages"));
  // Compiled by the Node of the image, which has to run here for that.
  if (arch === process.arch) compileCode(join(folder, "opt/tenure/bundle"), join(node, "bin/node"));
  await addSystemFiles(folder, [...versions, `node ${nodeVersion}`]);
}

/** @param {string} folder @param {string} downloads @param {string} arch @returns {Promise<string[]>} names and versions */
async function unpackDebian(folder, downloads, arch) {
  await mkdir(downloads, { recursive: true });
  // apt changes to a user of its own, who may not write here.
  const options = ["-o", "APT::Sandbox::User=root"];
  await run("apt-get", [...options, "download", ...debianPackages.map((name) => `${name}:${arch}`)], {
    cwd: downloads,
  });
  const versions = [];
  for (const file of (await readdir(downloads)).sort()) {
    await run("dpkg-deb", ["--extract", join(downloads, file), folder]);
    const { stdout } = await run("dpkg-deb", ["--show", join(downloads, file)]);
    versions.push(stdout.trim().replace("\t", " "));
  }
  for (const path of unwanted) await rm(join(folder, path), { recursive: true, force: true });
  for (const path of await readdir(folder, { recursive: true }))
    if (unwantedInside.some((pattern) => pattern.test(`/${path}`)))
      await rm(join(folder, path), { recursive: true, force: true });
  return versions;
}

/** One program with the names of many. @param {string} folder */
async function addBusybox(folder) {
  const { stdout } = await run(join(folder, "bin/busybox"), ["--list"]);
  await mkdir(join(folder, "usr/bin"), { recursive: true });
  const names = stdout.split("\n").filter((name) => /^[a-z\d[]+$/.test(name) && name !== "busybox");
  for (const name of names) await symlink("/bin/busybox", join(folder, "bin", name)).catch(() => {});
  await symlink("/bin/busybox", join(folder, "usr/bin/env")).catch(() => {});
}

/** The package from npm as it is published, with what it needs to store the sandbox's data. @param {string} folder @param {string} work */
async function addCommand(folder, work) {
  const [packed] = await packPackages(work, { only: ["cli"] });
  if (!packed) throw new Error("the command was not packed");
  const home = join(folder, "opt/tenure");
  await mkdir(home, { recursive: true });
  await run("tar", ["-xzf", packed.file, "-C", home, "--strip-components=1"]);
  await rm(join(home, "man"), { recursive: true });
  // Of the Node that built the package.
  for (const name of await readdir(join(home, "bundle")))
    if (name.endsWith(".compiled")) await rm(join(home, "bundle", name));
  for (const name of await withDependencies("classic-level"))
    await cp(join(root, "node_modules", name), join(home, "node_modules", name), {
      recursive: true,
      // Only what Linux loads.
      filter: (path) => !/\/prebuilds\/(?!linux-)|\/deps\/|\.map$/.test(path),
    });
  await symlink("/opt/tenure/bin/tenure.cjs", join(folder, "usr/local/bin/tenure"));
}

/** @param {string} name @returns {Promise<string[]>} */
async function withDependencies(name) {
  const manifest = JSON.parse(await readFile(join(root, "node_modules", name, "package.json"), "utf8"));
  const inner = await Promise.all(Object.keys(manifest.dependencies ?? {}).map(withDependencies));
  return [...new Set([name, ...inner.flat()])];
}

/** @param {string} folder @param {readonly string[]} versions */
async function addSystemFiles(folder, versions) {
  await mkdir(join(folder, "etc"), { recursive: true });
  for (const path of ["tmp", "proc", "sys", "dev", "run", "home/nonroot"])
    await mkdir(join(folder, path), { recursive: true });
  await chmod(join(folder, "tmp"), 0o1777);
  const files = {
    "etc/passwd": `root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:${user}:${user}:nonroot:/home/nonroot:/bin/sh\n`,
    "etc/group": `root:x:0:\nnonroot:x:${user}:\n`,
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    "etc/os-release": 'ID=tenure\nNAME="tenure"\nID_LIKE=debian\n',
    // What scanners and people need to know which fixes are in the image.
    "usr/share/doc/tenure/packages.txt": `${versions.join("\n")}\n`,
  };
  await mkdir(join(folder, "usr/share/doc/tenure"), { recursive: true });
  for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text);
}
