/** What images stand for: NAME=FOLDER-or-COMMAND. */
import type { Problem } from "@tenure/base";

export function imageProblems(images: readonly string[] = []): Problem[] {
  return images
    .filter((text) => !/^[^=]+=./.test(text))
    .map((value) => ({
      field: "image",
      rule: "must be a name and what it stands for",
      value,
      fix: "write NAME=FOLDER-or-COMMAND, for example --image web=./my-app",
    }));
}

/** By the name of the image. */
export function parseImages(images: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(images.map((text) => text.split(/=(.*)/s).slice(0, 2)));
}
