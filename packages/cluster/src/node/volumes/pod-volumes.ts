/** The volumes of one pod as folders of this machine. Volumes that the API fills are kept fresh. */
import { chmod, mkdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Volume } from "../pod.ts";
import { type Files, writeAtomically } from "./atomic-files.ts";
import { type VolumeContext, volumeFiles } from "./volume-files.ts";

export class PodVolumes {
  readonly #folder: string;
  readonly #volumes: readonly Volume[];
  readonly #written = new Map<string, string>();

  constructor(folder: string, volumes: readonly Volume[]) {
    this.#folder = folder;
    this.#volumes = volumes;
  }

  /** Whether the API fills one of the volumes. */
  get hasFiles(): boolean {
    return this.#volumes.some((volume) => isFilled(volume));
  }

  /** Where the volume is on this machine. */
  pathOf(name: string): string {
    const volume = this.#volumes.find((candidate) => candidate.name === name);
    return volume?.hostPath?.path ?? join(this.#folder, name);
  }

  /** Creates all volumes. Rejects with a sentence that names the first one that cannot be created. */
  async create(context: VolumeContext): Promise<void> {
    for (const volume of this.#volumes) {
      try {
        await this.#createOne(volume);
      } catch (error) {
        throw failed(volume, error);
      }
    }
    await this.refresh(context);
  }

  /** Writes the files that have changed. */
  async refresh(context: VolumeContext): Promise<void> {
    for (const volume of this.#volumes) {
      try {
        const files = await volumeFiles(volume, context);
        if (files) await this.#write(volume.name, files);
      } catch (error) {
        throw failed(volume, error);
      }
    }
  }

  async #write(name: string, files: Files): Promise<void> {
    const content = JSON.stringify(
      [...files].map(([path, { data, mode }]) => [path, mode, data.toString("base64")]),
    );
    if (this.#written.get(name) === content) return;
    await writeAtomically(this.pathOf(name), files);
    this.#written.set(name, content);
  }

  async #createOne(volume: Volume): Promise<void> {
    if (volume.hostPath) return checkHostPath(volume.hostPath);
    const path = this.pathOf(volume.name);
    if (!volume.emptyDir && !isFilled(volume)) {
      const [kind] = Object.keys(volume).filter((key) => key !== "name");
      throw new Error(`this node does not support volumes of type ${kind}: use emptyDir or hostPath`);
    }
    await mkdir(path, { recursive: true });
    // As in Kubernetes: a container may run as any user.
    if (volume.emptyDir) await chmod(path, 0o777);
  }
}

const isFilled = ({ configMap, secret, downwardAPI, projected }: Volume) =>
  (configMap ?? secret ?? downwardAPI ?? projected) !== undefined;

function failed({ name }: Volume, error: unknown): Error {
  const why = error instanceof Error ? error.message : String(error);
  return new Error(`MountVolume.SetUp failed for volume ${JSON.stringify(name)} : ${why}`, { cause: error });
}

async function checkHostPath({ path, type = "" }: NonNullable<Volume["hostPath"]>): Promise<void> {
  if (type === "DirectoryOrCreate") await mkdir(path, { recursive: true });
  if (type === "FileOrCreate") {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, "", { flag: "a" });
  }
  const found = await stat(path).catch(() => undefined);
  if (!found) throw new Error(`hostPath type check failed: ${path} does not exist`);
  if (type.startsWith("Directory") && !found.isDirectory())
    throw new Error(`hostPath type check failed: ${path} is not a directory`);
  if (type.startsWith("File") && !found.isFile())
    throw new Error(`hostPath type check failed: ${path} is not a file`);
}
