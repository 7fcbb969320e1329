/** The rules of the repository that no compiler checks. */
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  codeOf,
  commentsOf,
  exportedNames,
  filesMatching,
  isTest,
  relativeImportsOf,
  root,
  type SourceFile,
} from "./sources.ts";

/** Each package imports only packages above it. */
const layers = [
  "base",
  "core",
  "kube",
  "election",
  "postgres",
  "etcd",
  "traffic",
  "supervisor",
  "status",
  "stream",
  "sandbox",
  "cluster",
  "ui",
  "cli",
  "testkit",
  "simulator",
];

/** A longer file holds more than one thing. */
const mostLines = 350;

/** Where a test belongs, by its layer. */
const testLayers = [
  "conformance",
  "e2e",
  "stores",
  "processes",
  "release",
  "chaos",
  "kube",
  "ui",
  "mutation",
  "repository",
];

const packages = readdirSync(join(root, "packages"));

const pathsOf = (files: readonly SourceFile[]) => files.map(({ path }) => path);

describe("layers", () => {
  it("every package has its place", () => {
    expect(packages.filter((name) => !layers.includes(name))).toEqual([]);
  });

  it("every test outside of a package is in the folder of its layer", () => {
    const folders = filesMatching(/^test\//).map(({ path }) => path.split("/")[1]);
    expect([...new Set(folders)].filter((folder) => !testLayers.includes(folder as string))).toEqual([]);
  });

  it("no file imports itself through other files", () => {
    const files = filesMatching(/^(packages\/[a-z]+\/src|test|examples|bench|scripts)\/.*\.(ts|mjs)$/);
    const imports = new Map(files.map((file) => [file.path, relativeImportsOf(file)]));
    expect(cyclesIn(imports)).toEqual([]);
  });
});

describe.each(packages)("packages/%s", (name) => {
  const sources = filesMatching(new RegExp(`^packages/${name}/src/.*\\.ts$`));
  const shipped = sources.filter(({ path }) => !isTest(path));

  it("imports only the packages above it", () => {
    const allowed = layers.slice(0, layers.indexOf(name));
    const imported = shipped.flatMap(({ text }) =>
      [...codeOf(text).matchAll(/(?:from |import\()"@tenure\/([a-z]+)/g)].map(([, other]) => other as string),
    );
    expect(imported.filter((other) => !allowed.includes(other))).toEqual([]);
  });

  it("asks the machine for time, randomness, environment and process only in platform.ts", () => {
    const banned = [
      /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b/,
      /(?<![.\w])set(Timeout|Interval|Immediate)\(|(?<![.\w])queueMicrotask\(/,
      /\bMath\.random\b|(?<![.\w])(randomUUID|randomBytes|randomInt)\(|\bcrypto\.random/,
      /(?<![.\w#])process\.(env|argv|pid|ppid|std(in|out|err)|on|once|off|emit\w*|exit\w*|kill|hrtime|cwd|nextTick)\b/,
      /from "node:os"/,
    ];
    const guilty = shipped.filter(
      ({ path, text }) => !asksTheMachine(path) && banned.some((pattern) => pattern.test(codeOf(text))),
    );
    expect(pathsOf(guilty)).toEqual([]);
  });

  it("names every test after a source file beside it", () => {
    const orphans = sources.filter(({ path }) => path.endsWith(".test.ts") && !hasSubject(path));
    expect(pathsOf(orphans)).toEqual([]);
  });

  it("exports to other packages only what one of them uses", () => {
    const internal = shipped.find(({ path }) => path === `packages/${name}/src/internal.ts`);
    const users = filesMatching(/^(packages|test|bench|examples|scripts)\/.*\.(ts|mjs)$/).filter(
      ({ path, text }) =>
        !path.startsWith(`packages/${name}/src/`) && text.includes(`@tenure/${name}/internal`),
    );
    const unused = exportedNames(internal?.text ?? "").filter((exported) => !isNamedIn(users, exported.name));
    expect(unused).toEqual([]);
  });

  it("exports to users only values that a document names or another package uses", () => {
    const index = shipped.find(({ path }) => path === `packages/${name}/src/index.ts`);
    const users = filesMatching(
      /^(packages|test|bench|examples|scripts|docs)\/.*\.(ts|mjs|md)$|^README\.md$/,
    ).filter(({ path }) => !path.startsWith(`packages/${name}/src/`));
    // A type is public with the value whose signature needs it.
    const values = exportedNames(index?.text ?? "").filter(({ isType }) => !isType);
    expect(values.filter((exported) => !isNamedIn(users, exported.name))).toEqual([]);
  });
});

describe("every file", () => {
  const sources = filesMatching(/^(packages\/[a-z]+\/src|test|examples|bench|scripts)\/.*\.(ts|mjs)$/);

  it("is short", () => {
    expect(pathsOf(sources.filter(({ text }) => text.split("\n").length > mostLines))).toEqual([]);
  });

  it("leaves nothing marked for later", () => {
    const marked = sources.filter(
      ({ path, text }) => !path.endsWith("house-rules.test.ts") && /\b(FIXME|XXX|HACK|TO-?DO)\b/.test(text),
    );
    expect(pathsOf(marked)).toEqual([]);
  });

  it("cites only guarantees that the glossary defines", () => {
    const pages = filesMatching(/\.md$/).filter(({ path }) => !path.includes("node_modules"));
    const [glossary] = pages.filter(({ path }) => path === "docs/glossary.md");
    const defined = new Set(labelsIn(glossary?.text ?? ""));
    const texts = [...sources.map(({ path, text }) => ({ path, text: commentsOf(text) })), ...pages];
    const undefinedLabels = texts.flatMap(({ path, text }) =>
      labelsIn(text)
        .filter((label) => !defined.has(label))
        .map((label) => `${path}: ${label}`),
    );
    expect([...defined].sort()).toEqual(["G1", "G2", "G3", "G4"]);
    expect(undefinedLabels).toEqual([]);
  });
});

/** A label like G1: one letter and a number. */
function labelsIn(text: string): string[] {
  return [...text.matchAll(/(?<![\w./:#"'`$-])[A-HSTUW]\d{1,2}(?![\w./:"'`-])/g)].map(([label]) => label);
}

/** Platform files, and programs of the simulator that a person starts. */
function asksTheMachine(path: string): boolean {
  return (
    basename(path) === "platform.ts" || /^packages\/simulator\/src\/((explore|trace)\/)?main\.ts$/.test(path)
  );
}

/** `x.test.ts` and `x-topic.test.ts` test `x.ts`. */
function hasSubject(path: string): boolean {
  const words = basename(path, ".test.ts").split("-");
  return words.some((_, index) =>
    existsSync(join(root, dirname(path), `${words.slice(0, words.length - index).join("-")}.ts`)),
  );
}

function isNamedIn(files: readonly SourceFile[], name: string): boolean {
  const pattern = new RegExp(`\\b${name}\\b`);
  return files.some(({ text }) => pattern.test(text));
}

function cyclesIn(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const cycles: string[] = [];
  const finished = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) {
      cycles.push([...trail.slice(trail.indexOf(path)), path].join(" → "));
      return;
    }
    if (finished.has(path)) return;
    for (const target of imports.get(path) ?? []) visit(target, [...trail, path]);
    finished.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  return cycles;
}
