/** Rules of the repository that no compiler checks. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Each imports only what is before it. */
const layers = [
  "base",
  "core",
  "kube",
  "election",
  "supervisor",
  "traffic",
  "status",
  "stream",
  "sandbox",
  "cli",
  "testkit",
  "simulator",
];

/** Longer files hold more than one thing. */
const mostLines = 350;

const present = readdirSync(join(root, "packages"));

function sourcesOf(name: string): { path: string; text: string }[] {
  const folder = join(root, "packages", name, "src");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => ({ path, text: readFileSync(join(folder, path), "utf8") }));
}

function isShipped(path: string): boolean {
  return !path.endsWith(".test.ts") && !path.split("/").includes("testing");
}

/** The simulator's own program is run by hand; the worlds that it plays ask nothing. */
function asksTheMachine(name: string, path: string): boolean {
  return path === "platform.ts" || (name === "simulator" && path === "main.ts");
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "");
}

it("every package has its place among the layers", () => {
  expect(present.filter((name) => !layers.includes(name))).toEqual([]);
});

describe.each(present)("packages/%s", (name) => {
  const sources = sourcesOf(name);

  it("asks for time, randomness, environment and process only in platform.ts", () => {
    const banned =
      /\bDate\.now\b|\bnew Date\(\)|(?<![.\w])set(Timeout|Interval)\(|\bMath\.random\b|\bprocess\.(env|exit|kill|hrtime)\b|performance\.now/;
    const guilty = sources.filter(
      ({ path, text }) =>
        isShipped(path) && !asksTheMachine(name, path) && banned.test(withoutComments(text)),
    );
    expect(guilty.map(({ path }) => path)).toEqual([]);
  });

  it("imports only the packages above it", () => {
    const allowed = layers.slice(0, layers.indexOf(name));
    const imports = sources
      .filter(({ path }) => isShipped(path))
      .flatMap(({ text }) => [
        ...text.matchAll(/from "@tenure\/([a-z]+)[/"]|import\("@tenure\/([a-z]+)[/"]/g),
      ])
      .map(([, named, dynamic]) => named ?? dynamic);
    expect(imports.filter((imported) => !allowed.includes(imported as string))).toEqual([]);
  });

  it("has no long file", () => {
    const long = sources.filter(({ text }) => text.split("\n").length > mostLines);
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  it("leaves nothing marked for later", () => {
    const marked = sources.filter(({ text }) => /\b(FIXME|XXX|HACK|TO-?DO)\b/.test(text));
    expect(marked.map(({ path }) => path)).toEqual([]);
  });
});
