/**
 * An image is only a name here: it stands for a folder or a command of this machine. An image that nobody described stands for
 * the program of its name, or for the command of the container, if this machine has it.
 */
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import type { NodeContainer } from "../pod.ts";
import { expand } from "./expand.ts";

/** The image or its program is unknown. */
export class ImageError extends Error {
  override readonly name = "ImageError";
}

export interface ImageProgram {
  /** The program and its arguments. The program is an absolute path. */
  readonly argv: readonly [string, ...string[]];
  /** The folder of the image, which is also the working directory of the container unless it names another. */
  readonly folder: string | undefined;
  readonly path: string;
}

/** Images that every cluster has. */
const builtIn: Readonly<Record<string, string>> = { pause: "sleep infinity" };

/**
 * @param images a folder or a command for each image, by its name with or without registry and tag
 * @param env the environment of the container: PATH, and the variables that command and args refer to
 */
export function resolveImage(
  container: NodeContainer,
  images: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
): ImageProgram {
  const image = container.image ?? "";
  const described = describedAs(image, images);
  const folder = described !== undefined && isFolder(described) ? resolve(described) : undefined;
  const path = [
    ...(folder ? [folder, join(folder, "bin"), join(folder, "node_modules/.bin")] : []),
    env.PATH ?? "/usr/local/bin:/usr/bin:/bin",
  ].join(delimiter);
  const expanded = (list: readonly string[] = []) => list.map((text) => expand(text, env));
  const command = container.command?.length
    ? expanded(container.command)
    : entrypointOf(image, described, folder);
  const [program = "", ...rest] = command;
  const found = inImage(program, folder) ?? findProgram(program, path, container.workingDir ?? folder);
  if (found === undefined) throw new ImageError(unknownMessage(image, program, described));
  return { argv: [found, ...rest, ...expanded(container.args)], folder, path };
}

/** The name as it is, then without tag and digest, then without registry and folders. */
function describedAs(image: string, images: Readonly<Record<string, string>>): string | undefined {
  const names = [image, untagged(image), lastPart(untagged(image))];
  for (const name of names) if (Object.hasOwn(images, name)) return images[name];
  const last = names[2] as string;
  return Object.hasOwn(builtIn, last) ? builtIn[last] : undefined;
}

const untagged = (image: string) => image.replace(/@.*$/, "").replace(/:[^/]*$/, "");
const lastPart = (image: string) => image.slice(image.lastIndexOf("/") + 1);

function entrypointOf(image: string, described: string | undefined, folder: string | undefined): string[] {
  if (folder !== undefined) return startScriptOf(folder);
  return described === undefined ? [lastPart(untagged(image))] : described.trim().split(/\s+/);
}

/** How a folder is started: by the script "start" of its package.json, or its main file. */
function startScriptOf(folder: string): string[] {
  const file = join(folder, "package.json");
  try {
    const { scripts, main } = JSON.parse(readFileSync(file, "utf8")) as {
      scripts?: { start?: string };
      main?: string;
    };
    // The arguments of the container follow, as they follow the entry point of an image.
    if (scripts?.start) return ["/bin/sh", "-c", `exec ${scripts.start} "$@"`, "sh"];
    return ["node", main ?? "index.js"];
  } catch {
    throw new ImageError(
      `The folder ${folder} does not say how to start it: set the container's command, or write a package.json with a "start" script.`,
    );
  }
}

function findProgram(program: string, path: string, folder: string | undefined): string | undefined {
  if (isAbsolute(program)) return isExecutable(program) ? program : undefined;
  if (program.includes("/")) {
    const full = folder === undefined ? undefined : join(folder, program);
    return full && isExecutable(full) ? full : undefined;
  }
  return path
    .split(delimiter)
    .map((directory) => join(directory, program))
    .find((full) => isAbsolute(full) && isExecutable(full));
}

/** The folder of an image is also its root: an absolute path means its own program, if it has one. */
function inImage(program: string, folder: string | undefined): string | undefined {
  if (folder === undefined || !isAbsolute(program)) return undefined;
  const full = join(folder, program);
  return isExecutable(full) ? full : undefined;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function unknownMessage(image: string, program: string, described: string | undefined): string {
  const name = lastPart(untagged(image));
  if (described !== undefined)
    return `Cannot run image ${JSON.stringify(image)}: there is no program ${JSON.stringify(program)} on this machine. Correct --image ${name}=${described}, or the container's command.`;
  return `Cannot run image ${JSON.stringify(image)}: this node runs programs of its machine, and ${JSON.stringify(program)} is not one of them. Name a folder or a command for it with --image ${name}=FOLDER-or-COMMAND.`;
}
