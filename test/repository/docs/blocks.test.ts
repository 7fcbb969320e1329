/**
 * Tests the code blocks of the docs: programs compile, command lines match the commands, manifests can be applied to an API
 * server, files exist.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { type Sandbox, startSandbox } from "@tenure/sandbox";
import { loadAll } from "js-yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Body, Target } from "../../conformance/target.ts";
import { collectionOf } from "../../processes/manifests/resources.ts";
import { problemsOf } from "./command-line.ts";
import { type Block, blocksOf, indentedOf, pages, root } from "./pages.ts";
import { commandsIn } from "./shell-words.ts";

const blocks = pages.flatMap(blocksOf);
const inLanguage = (...languages: string[]) => blocks.filter(({ language }) => languages.includes(language));
const at = ({ page, line }: Block) => `${page}:${line}`;

test("there are blocks of every kind", () => {
  expect(inLanguage("js", "ts").length).toBeGreaterThan(5);
  expect(inLanguage("sh").length).toBeGreaterThan(30);
  expect(inLanguage("yaml").length).toBeGreaterThan(2);
});

test("every block has a language that is tested here", () => {
  expect(blocks.filter(({ language }) => !["js", "ts", "sh", "yaml"].includes(language)).map(at)).toEqual([]);
  for (const { path, text } of pages) {
    const fences = text.match(/^```$/gm)?.length ?? 0;
    expect({ path, closing: fences }).toEqual({ path, closing: blocksOf({ path, text }).length });
  }
});

describe("programs", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tenure-docs-"));
    await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("compile", { timeout: 120_000 }, async () => {
    const programs = inLanguage("js", "ts");
    const compilerOptions = {
      ...{ target: "es2023", module: "nodenext", strict: true, noEmit: true, skipLibCheck: true },
      ...{ allowJs: true, checkJs: true, types: ["node"] },
    };
    await writeFile(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions, include: ["*.mts", "*.mjs"] }),
    );
    for (const [index, { language, code, ...where }] of programs.entries()) {
      const name = `${index}-${where.page.replace(/\W/g, "-")}-${where.line}.m${language}`;
      await writeFile(join(folder, name), code);
    }
    const tsc = join(root, "node_modules/.bin/tsc");
    const complaints = await promisify(execFile)(tsc, ["-p", folder]).then(
      () => "",
      (error) => error.stdout as string,
    );
    expect(complaints).toBe("");
  });

  test("the example of a test runs, and exits by itself", async () => {
    const [block] = inLanguage("js").filter(({ page }) => page === "docs/tasks/test-your-service.md");
    await mkdir(join(folder, "run"));
    await symlink(join(root, "node_modules"), join(folder, "run", "node_modules"));
    await writeFile(join(folder, "run", "program.mjs"), block?.code ?? "");
    const { stdout } = await promisify(execFile)(process.execPath, ["program.mjs"], {
      cwd: join(folder, "run"),
    });
    expect(stdout).toMatch(/^leads with token \d+\n$/);
  });
});

describe("command lines", () => {
  const all = [...inLanguage("sh"), ...pages.flatMap(indentedOf)].flatMap((block) =>
    commandsIn(block.code).map((words) => ({ where: at(block), block, words })),
  );

  test("of tenure match the declarations", async () => {
    const typed = all
      .map(({ words, where }) => ({ where, words: words[0] === "npx" ? words.slice(1) : words }))
      .filter(({ words }) => words[0] === "tenure");
    expect(typed.length).toBeGreaterThan(40);
    const problems = typed.map(async ({ where, words }) =>
      (await problemsOf(words.slice(1))).map((problem) => `${where}: ${problem}`),
    );
    expect((await Promise.all(problems)).flat()).toEqual([]);
  });

  test("of npm name scripts that exist", async () => {
    const { scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    const named = all.flatMap(({ words, where }) => {
      if (words[0] !== "npm") return [];
      const script =
        words[1] === "run" ? words.find((word, index) => index > 1 && !word.startsWith("-")) : words[1];
      return [{ where, script }];
    });
    const unknown = named.filter(
      ({ script }) => script !== "ci" && script !== "install" && !((script as string) in scripts),
    );
    expect(unknown).toEqual([]);
    expect(named.length).toBeGreaterThan(2);
  });

  test("name files that exist", () => {
    const missing = all.flatMap(({ words, where, block }) =>
      words
        .map((word) => word.replace("$GUIDE", dirname(block.page)))
        .filter((word) => /^(examples|deploy|packages|scripts|test|docs)\/[\w./-]+$/.test(word))
        .filter((word) => !existsSync(join(root, word)))
        .map((word) => `${where}: ${word}`),
    );
    expect(missing).toEqual([]);
  });
});

describe("manifests", () => {
  let sandbox: Sandbox;
  let target: Target;
  beforeAll(async () => {
    sandbox = await startSandbox();
    target = new Target(sandbox.kubeconfig, true, () => sandbox.close());
  });
  afterAll(() => target.close());

  test.each(inLanguage("yaml").map((block) => ({ where: at(block), code: block.code })))(
    "$where",
    async ({ code }) => {
      const objects = (loadAll(code) as Body[]).filter(({ apiVersion }) => apiVersion);
      for (const object of objects) {
        const path = `${collectionOf(object)}?dryRun=All&fieldValidation=Strict`;
        const { status, body } = await target.request("POST", path, object);
        expect({ kind: object.kind, status, body }).toMatchObject({ status: 201 });
      }
    },
  );
});
