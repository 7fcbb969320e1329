import { expect, it } from "vitest";
import { declareProgram } from "../command-line.ts";
import { fakePlatform } from "../testing/fake-platform.ts";
import { complete, printCompletion } from "./complete.ts";

const program = await declareProgram(fakePlatform("", { home: "/home/user" }));
const ask = (...words: string[]) => complete(program, words);
const offered = (...words: string[]) => ask(...words).candidates.map(({ word }) => word);

it("offers commands, and commands of commands", () => {
  expect(offered("st")).toEqual(["status", "step-down"]);
  expect(offered("sandbox", "faults", "c")).toEqual(["clear", "compact"]);
});

it("offers flags that were not typed yet", () => {
  expect(offered("list", "--no")).toEqual(["--no-headers", "--nodes"]);
  expect(offered("list", "--nodes", "--no")).toEqual(["--no-headers"]);
});

it("offers values, in the next word and after an equals sign", () => {
  expect(offered("run", "--preset", "")).toEqual(["standard", "fast-failover", "low-load"]);
  expect(offered("run", "--preset=f")).toEqual(["--preset=fast-failover"]);
  expect(offered("list", "-o", "j")).toEqual(["json", "jsonpath="]);
  expect(offered("completion", "")).toEqual(["bash", "zsh", "fish"]);
});

it("leaves files and folders to the shell", () => {
  expect(ask("run", "--config", "")).toMatchObject({ candidates: [], paths: "files" });
  expect(ask("run", "--cwd", "")).toMatchObject({ candidates: [], paths: "directories" });
});

it("leaves the command of tenure run to the shell, flags included", () => {
  expect(ask("run", "--lease-lock-name", "x", "--", "node", "--")).toMatchObject({
    candidates: [],
    paths: "files",
  });
});

it("asks the cluster for names, with the connection that was typed", () => {
  expect(ask("status", "--context", "prod", "-n", "shop", "bil")).toMatchObject({
    ask: "elections",
    connection: { "--context": "prod", "--namespace": "shop" },
  });
  expect(ask("list", "-n", "")).toMatchObject({ ask: "namespaces" });
  expect(ask("list", "--namespace=s")).toMatchObject({ ask: "namespaces", prefix: "--namespace=" });
});

it("prints what shells and kubectl read: a word, a tab, a description, and a directive", () => {
  expect(printCompletion(ask("list", "--no"))).toMatch(/^--no-headers\tleave out .*\n--nodes\t.*\n:4\n$/);
  expect(printCompletion(ask("list", "-o", "jsonp"))).toBe("jsonpath=\n:6\n");
  expect(printCompletion(ask("run", "--config", ""))).toBe(":0\n");
});
