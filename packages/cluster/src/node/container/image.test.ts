import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { app } from "../testing/pod-player.ts";
import { ImageError, resolveImage } from "./image.ts";

let machine = "";
let env = { PATH: "" };
beforeAll(() => {
  machine = mkdtempSync(join(tmpdir(), "tenure-image-"));
  env = { PATH: join(machine, "bin") };
  mkdirSync(join(machine, "bin"));
  mkdirSync(join(machine, "web"));
  for (const name of ["bin/nginx", "bin/server", "bin/node", "bin/sleep", "web/serve"]) {
    writeFileSync(join(machine, name), "");
    chmodSync(join(machine, name), 0o755);
  }
});
afterAll(() => rmSync(machine, { recursive: true }));

const argv = (
  container: Parameters<typeof app>[1],
  images: Record<string, string> = {},
  more: Record<string, string> = {},
) => resolveImage(app("app", container), images, { ...env, ...more }).argv;

describe("an image that nobody described", () => {
  it("stands for the program of its name", () => {
    expect(argv({ image: "docker.io/library/nginx:1.27@sha256:0", args: ["-g"] })).toEqual([
      join(machine, "bin/nginx"),
      "-g",
    ]);
  });

  it("stands for the command of the container, with its variables", () => {
    expect(
      argv({ image: "whatever", command: ["server", "$(PORT)"], args: ["$$(X)"] }, {}, { PORT: "3000" }),
    ).toEqual([join(machine, "bin/server"), "3000", "$(X)"]);
  });

  it("is unknown if this machine has no such program, and the message says what to do", () => {
    expect(() => argv({ image: "reg.io/my/app:2" })).toThrow(
      new ImageError(
        'Cannot run image "reg.io/my/app:2": this node runs programs of its machine, and "app" is not one of them. Name a folder or a command for it with --image app=FOLDER-or-COMMAND.',
      ),
    );
  });

  it("is pause, which every cluster has", () => {
    expect(argv({ image: "registry.k8s.io/pause:3.10" })).toEqual([join(machine, "bin/sleep"), "infinity"]);
  });
});

describe("an image that stands for a folder", () => {
  it("runs there, and finds programs there first", () => {
    const images = { "my/app": join(machine, "web") };
    const found = resolveImage(app("app", { image: "my/app:2", command: ["serve"] }), images, env);
    expect(found).toMatchObject({ argv: [join(machine, "web/serve")], folder: join(machine, "web") });
  });

  it("is also the root of its image: an absolute path means its own program, if it has one", () => {
    const images = { app: machine };
    expect(argv({ image: "app", command: ["/web/serve"] }, images)).toEqual([join(machine, "web/serve")]);
    expect(argv({ image: "app", command: ["/bin/sh"] }, images)).toEqual(["/bin/sh"]);
    expect(() => argv({ image: "app", command: ["/web/other"] }, images)).toThrow(ImageError);
  });

  it("starts by its package.json", () => {
    writeFileSync(join(machine, "web/package.json"), JSON.stringify({ main: "main.js" }));
    expect(argv({ image: "app" }, { app: join(machine, "web") })).toEqual([
      join(machine, "bin/node"),
      "main.js",
    ]);
    writeFileSync(join(machine, "web/package.json"), JSON.stringify({ scripts: { start: "node x" } }));
    const started = argv({ image: "app", args: ["a", "b c"] }, { app: join(machine, "web") });
    expect(started).toEqual(["/bin/sh", "-c", 'exec node x "$@"', "sh", "a", "b c"]);
    rmSync(join(machine, "web/package.json"));
    expect(() => argv({ image: "app" }, { app: join(machine, "web") })).toThrow('"start" script');
  });
});

it("an image can stand for a command, which the container's own command replaces", () => {
  const images = { app: "server --fast" };
  expect(argv({ image: "x/app:1", args: ["a"] }, images)).toEqual([
    join(machine, "bin/server"),
    "--fast",
    "a",
  ]);
  expect(argv({ image: "x/app:1", command: ["nginx"] }, images)).toEqual([join(machine, "bin/nginx")]);
});
