import { chmod, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cacheFolder, findAssets, readPins } from "./assets.mjs";
import { buildAssets } from "./build.mjs";

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "tenure-kube-test-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function folderWith(name: string, programs: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(root, name));
  for (const [program, text] of Object.entries(programs)) {
    await writeFile(join(folder, program), text);
    await chmod(join(folder, program), 0o755);
  }
  return folder;
}

const both = { "kube-apiserver": "", etcd: "" };

describe("finding kube-apiserver and etcd", () => {
  it("prefers KUBEBUILDER_ASSETS to PATH", async () => {
    const given = await folderWith("given", both);
    const path = await folderWith("path", both);
    expect(await findAssets({ env: { KUBEBUILDER_ASSETS: given, PATH: path } })).toEqual({
      kubeApiServer: join(given, "kube-apiserver"),
      etcd: join(given, "etcd"),
      source: "KUBEBUILDER_ASSETS",
    });
  });

  it("does not fall back to others if KUBEBUILDER_ASSETS lacks one", async () => {
    const given = await folderWith("given", { etcd: "" });
    const path = await folderWith("path", both);
    await expect(findAssets({ env: { KUBEBUILDER_ASSETS: given, PATH: path } })).rejects.toThrow(
      `KUBEBUILDER_ASSETS has no executable kube-apiserver: ${given}`,
    );
  });

  it("finds them in different folders of PATH", async () => {
    const [a, b] = [await folderWith("a", { etcd: "" }), await folderWith("b", { "kube-apiserver": "" })];
    const found = await findAssets({ env: { PATH: `${a}:${b}` } });
    expect(found).toEqual({
      kubeApiServer: join(b, "kube-apiserver"),
      etcd: join(a, "etcd"),
      source: "PATH",
    });
  });

  it("builds them into the cache once", async () => {
    const go = await folderWith("go", { go: fakeGo });
    const env = { PATH: `${go}:/usr/bin:/bin`, XDG_CACHE_HOME: join(root, "cache") };
    const cache = cacheFolder(env, await readPins());
    const quiet: typeof buildAssets = (options) => buildAssets({ ...options, report: () => {} });
    expect(await findAssets({ env, build: quiet })).toMatchObject({
      source: "build",
      etcd: join(cache, "etcd"),
    });
    expect(await findAssets({ env, build: quiet })).toMatchObject({ source: "cache" });
  });

  it("says what is missing and how to get it if there is no go command", async () => {
    const env = { PATH: root, XDG_CACHE_HOME: root };
    await expect(findAssets({ env })).rejects.toThrow(
      /there is no go command .* install Go 1\.26 .* KUBEBUILDER_ASSETS/,
    );
  });
});

/** Writes the executable, slowly enough that another run can start in the meantime, and counts its runs. */
const fakeGo = `#!/bin/sh
while [ "$1" != -o ]; do shift; done
echo run >>"\${2%/*}/runs"
sleep 0.2
echo "$3" >"$2"
chmod +x "$2"
`;

describe("building", () => {
  it("builds once if two runs start at the same time, and leaves no partial file or lock", async () => {
    const go = join(await folderWith("go", { go: fakeGo }), "go");
    const folder = join(root, "cache");
    const options = { go, folder, pins: await readPins(), report: () => {} };
    await Promise.all([buildAssets(options), buildAssets(options)]);
    expect((await readdir(folder)).sort()).toEqual(["etcd", "kube-apiserver", "runs"]);
    expect(await readFile(join(folder, "runs"), "utf8")).toBe("run\nrun\n");
  });

  it("takes over the lock of a run that died", async () => {
    const go = join(await folderWith("go", { go: fakeGo }), "go");
    const folder = await folderWith("cache", { building: "" });
    const aMinuteAgo = new Date(Date.now() - 60_000);
    await utimes(join(folder, "building"), aMinuteAgo, aMinuteAgo);
    await buildAssets({ go, folder, pins: await readPins(), report: () => {} });
    expect((await readdir(folder)).sort()).toEqual(["etcd", "kube-apiserver", "runs"]);
  });

  it("shows the output of go if it fails, and leaves no executable", async () => {
    const go = join(await folderWith("go", { go: "#!/bin/sh\necho no network >&2\nexit 1\n" }), "go");
    const folder = join(root, "cache");
    const build = buildAssets({ go, folder, pins: await readPins(), report: () => {} });
    await expect(build).rejects.toThrow(/Cannot build etcd: go build ended with 1\. .*\nno network$/);
    expect(await readdir(folder)).toEqual([]);
  });
});
