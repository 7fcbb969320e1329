/** The files for a public forge: workflows run what exists, forms are valid, and the index of examples is complete. */
import { accessSync, constants, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { root } from "./sources.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const yaml = (path: string) => load(read(path)) as Record<string, unknown>;

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly steps: readonly { readonly run?: string }[] }>>;
  readonly permissions: Readonly<Record<string, string>>;
}

const workflow = (file: string) => yaml(`.github/workflows/${file}`) as unknown as Workflow;
const commandsOf = ({ jobs }: Workflow) =>
  Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));

describe("workflows", () => {
  it("CI runs .ci/run, which is executable", () => {
    expect(commandsOf(workflow("ci.yaml")).join("\n")).toContain(".ci/run");
    expect(() => accessSync(join(root, ".ci/run"), constants.X_OK)).not.toThrow();
  });

  it("CI runs with the lowest version of Node that is supported", () => {
    const lowest = JSON.parse(read("package.json")).engines.node.replace(">=", "");
    expect(read(".github/workflows/ci.yaml")).toContain(`node-version: ${lowest}`);
  });

  it("release may ask npm for provenance, and runs scripts that exist", () => {
    const release = workflow("release.yaml");
    expect(release.permissions["id-token"]).toBe("write");
    const { scripts } = JSON.parse(read("package.json"));
    const text = commandsOf(release).join("\n");
    for (const [, name = ""] of text.matchAll(/npm run ([\w:-]+)/g)) expect(scripts).toHaveProperty(name);
    for (const [, path = ""] of text.matchAll(/node (scripts\/\S+)/g))
      expect(existsSync(join(root, path))).toBe(true);
  });
});

describe("issue forms", () => {
  it.each(["bug.yaml", "feature.yaml"])("%s has a name, a description and questions with labels", (file) => {
    const { name, description, body } = yaml(`.github/ISSUE_TEMPLATE/${file}`);
    expect([typeof name, typeof description]).toEqual(["string", "string"]);
    const questions = (body as { type: string; id?: string; attributes: { label?: string } }[]).filter(
      ({ type }) => type !== "markdown",
    );
    expect(questions.length).toBeGreaterThan(2);
    for (const { id, attributes } of questions)
      expect([typeof id, typeof attributes.label]).toEqual(["string", "string"]);
  });
});

it("the index of examples names every example", () => {
  const index = read("examples/README.md");
  const folders = readdirSync(join(root, "examples"), { withFileTypes: true }).filter((each) =>
    each.isDirectory(),
  );
  for (const { name } of folders) expect(index).toContain(`[${name}](${name})`);
});

it.each(["SECURITY.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md"])(
  "the links of %s lead somewhere",
  (file) => {
    for (const [, target = ""] of read(file).matchAll(/\]\(([^)#:]+)\)/g))
      expect({ target, exists: existsSync(join(root, target)) }).toEqual({ target, exists: true });
  },
);
