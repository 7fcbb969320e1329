/** The image: two builds have the same bytes, and runc or crun runs it through one handover, read-only and not as root. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSandbox } from "@tenure/sandbox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildImage } from "../../scripts/image/build.mjs";
import { reasonAgainst, runtimeConfig, runtimeName } from "./container.ts";

const runtime = runtimeName() ?? "";
const reasonNotToBuild = ["apt-get", "dpkg-deb"].find((tool) => spawnSync(tool, ["--version"]).status !== 0);
if (reasonNotToBuild) console.log(`the image is not tested, because ${reasonNotToBuild} is not installed`);

describe.runIf(!reasonNotToBuild)("the image", () => {
  let folder: string;
  let image: { config: { User: string; Entrypoint: string[]; Env: string[]; WorkingDir: string } };
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "tenure-image-test-"));
    await buildImage(join(folder, "image.tar"), "x64");
    mkdirSync(join(folder, "image"));
    execFileSync("tar", ["-xf", join(folder, "image.tar"), "-C", join(folder, "image")]);
    const [layer, config] = unpack(join(folder, "image"));
    image = config as typeof image;
    mkdirSync(join(folder, "root"));
    execFileSync("tar", ["-xzf", layer, "-C", join(folder, "root")]);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("has the same bytes when it is built again", async () => {
    await buildImage(join(folder, "again.tar"), "x64");
    const hash = (file: string) =>
      createHash("sha256")
        .update(readFileSync(join(folder, file)))
        .digest("hex");
    expect(hash("again.tar")).toBe(hash("image.tar"));
  });

  it("starts tenure as process 1, and not as root", () => {
    expect(image.config).toMatchObject({ User: "65532:65532", Entrypoint: ["tenure"] });
  });

  const reason = reasonAgainst();
  if (reason) console.log(`the image is not run: ${reason}`);

  it.runIf(!reason)("hands over between two containers with a read-only root file system", async () => {
    const sandbox = await startSandbox();
    const containers: ChildProcess[] = [];
    try {
      const start = async (id: string) => {
        const bundle = join(folder, id);
        mkdirSync(bundle);
        await sandbox.writeKubeconfig(join(bundle, "kubeconfig"));
        // Written for this user only, and the container has another one.
        chmodSync(join(bundle, "kubeconfig"), 0o644);
        const work = `echo "$TENURE_IDENTITY works, uid $(id -u), 1 is $(tr '\\0' ' ' </proc/1/cmdline)"; touch /file || echo read-only; exec sleep 1000`;
        const flags = ["--kubeconfig", "/config/kubeconfig", "--lease-lock-name", "image", "--id", id];
        const args = [...image.config.Entrypoint, "run", ...flags, "--", "sh", "-c", work];
        const config = runtimeConfig({
          root: join(folder, "root"),
          args,
          env: image.config.Env,
          config: bundle,
        });
        writeFileSync(join(bundle, "config.json"), JSON.stringify(config));
        const { command, stop } = containerCommand(bundle, id);
        const child = spawn(command[0] as string, command.slice(1), { stdio: ["ignore", "pipe", "pipe"] });
        containers.push(child);
        let text = "";
        for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += chunk));
        const exited = new Promise<number | null>((resolve) => child.on("close", resolve));
        return { output: () => text, stop, exited };
      };
      const first = await start("first");
      await expect
        .poll(first.output)
        .toContain("first works, uid 65532, 1 is node /usr/local/bin/tenure run");
      await expect.poll(first.output).toContain("read-only");
      const second = await start("second");
      await expect.poll(second.output).toContain("new leader elected: first");
      first.stop();
      await expect.poll(second.output).toContain("second works");
      expect(await first.exited).toBe(0);
      second.stop();
      expect(await second.exited).toBe(0);
    } finally {
      for (const child of containers) child.kill("SIGKILL");
      for (const id of ["first", "second"])
        spawnSync(runtime, ["--root", join(folder, "state"), "delete", "--force", id]);
      await sandbox.close();
    }
  });

  function containerCommand(bundle: string, id: string) {
    const state = ["--root", join(folder, "state")];
    return {
      command: [runtime, ...state, "run", "--bundle", bundle, id],
      stop: () => void execFileSync(runtime, [...state, "kill", id, "TERM"]),
    };
  }
});

/** @returns the path of the layer, and the configuration of the image; checks every digest on the way */
function unpack(folder: string): [string, unknown] {
  const blob = (digest: string) => {
    const path = join(folder, "blobs/sha256", digest.replace("sha256:", ""));
    expect(`sha256:${createHash("sha256").update(readFileSync(path)).digest("hex")}`).toBe(digest);
    return path;
  };
  const read = (path: string) => JSON.parse(readFileSync(path, "utf8"));
  const manifest = read(blob(read(join(folder, "index.json")).manifests[0].digest));
  return [blob(manifest.layers[0].digest), read(blob(manifest.config.digest))];
}
