/**
 * Checks the Dockerfile without building it, which would need Docker: what a linter would find, and that all copied files
 * exist. Building and running the image is not tested here.
 */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));

interface Instruction {
  readonly name: string;
  readonly value: string;
}

const instructions: Instruction[] = readFileSync(`${root}deploy/Dockerfile`, "utf8")
  .replace(/^\s*#.*\n/gm, "")
  .replace(/\\\n/g, " ")
  .split("\n")
  .filter((line) => line.trim() !== "")
  .map((line) => {
    const [, name = "", value = ""] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    return { name, value };
  });
const all = (name: string) => instructions.filter((each) => each.name === name).map(({ value }) => value);
const lastStage = instructions.slice(instructions.map(({ name }) => name).lastIndexOf("FROM"));
const last = (name: string) => lastStage.filter((each) => each.name === name).at(-1)?.value;

test("has only known instructions", () => {
  const known = ["FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "ENTRYPOINT", "CMD"];
  expect(instructions.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([]);
});

test("has stages with pinned images that satisfy the packages' engines", () => {
  const froms = all("FROM");
  expect(froms.length).toBeGreaterThan(1);
  for (const from of froms) expect(from).toMatch(/^node:20\.\d+-alpine3\.\d+( AS \w+)?$/);
  const { engines } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
  expect(engines.node).toBe(">=20.19");
  expect(Number(/^node:20\.(\d+)/.exec(froms[0] as string)?.[1])).toBeGreaterThanOrEqual(19);
});

test("copies only files that exist or that a stage created", () => {
  const stages = all("FROM").map((from) => / AS (\w+)$/.exec(from)?.[1]);
  for (const copy of all("COPY")) {
    const words = copy.split(/\s+/);
    const from = /^--from=(\w+)$/.exec(words[0] as string)?.[1];
    if (from) expect(stages).toContain(from);
    else for (const source of words.slice(0, -1)) expect(existsSync(root + source), source).toBe(true);
  }
});

test(".dockerignore does not exclude copied files", () => {
  const ignore = readFileSync(`${root}deploy/Dockerfile.dockerignore`, "utf8").split("\n");
  for (const copy of all("COPY").filter((each) => !each.startsWith("--from"))) {
    for (const source of copy.split(/\s+/).slice(0, -1)) expect(ignore).toContain(`!${source}`);
  }
});

test("runs as the same numeric user as the manifests", () => {
  expect(last("USER")).toBe("65532:65532");
});

test("starts tenure under tini, which reaps zombies, without a shell", () => {
  expect(JSON.parse(last("ENTRYPOINT") as string)).toEqual(["/sbin/tini", "--", "tenure"]);
  expect(all("RUN").at(-1)).toContain("apk add --no-cache tini");
  expect(existsSync(`${root}packages/cli/bin/tenure.cjs`)).toBe(true);
  expect(all("RUN").join("\n")).toContain("/opt/tenure/packages/cli/bin/tenure.cjs /usr/local/bin/tenure");
});
