/** docs/install.md: the commands that install packed packages, as they stand, on a machine with nothing but Node. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { packPackages } from "../../scripts/release/stage.mjs";

const text = readFileSync(fileURLToPath(new URL("../../docs/install.md", import.meta.url)), "utf8");
const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, code]) => code as string);

/** Stands for the clone: only what `npm run release -- --dry-run` writes is there. */
let clone: string;
beforeAll(async () => {
  clone = mkdtempSync(join(tmpdir(), "tenure-install-"));
  await packPackages(join(clone, "release"));
});
afterAll(() => rmSync(clone, { recursive: true, force: true }));

/** Runs the only block that contains these words. */
function runBlock(words: string, cwd: string): string {
  const [block = "", ...others] = blocks.filter((code) => code.includes(words));
  expect(others).toEqual([]);
  const prefix = join(clone, "prefix");
  // The machine's own settings of npm stay: it may reach the registry only through them.
  const env = {
    ...process.env,
    PATH: `${join(prefix, "bin")}:${dirname(process.execPath)}:/usr/bin:/bin`,
    CLONE: clone,
    npm_config_prefix: prefix,
  };
  return execFileSync("bash", ["-e", "-c", block], { cwd, env, encoding: "utf8", timeout: 100_000 });
}

it("installs the command", () => {
  expect(runBlock("npm install -g ./release/tarballs/", clone)).toMatch(/^tenure \d+\.\d+\.\d+$/m);
});

it("installs the library with all that it needs", () => {
  const project = join(clone, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "private": true }\n');
  runBlock("$CLONE/release/tarballs/tenure-election-", project);
  const program = 'import { Election } from "@tenure/election"; console.log(typeof Election);';
  expect(
    execFileSync(process.execPath, ["--input-type=module", "-e", program], {
      cwd: project,
      encoding: "utf8",
    }),
  ).toBe("function\n");
});
