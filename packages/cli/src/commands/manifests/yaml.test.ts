import { load } from "js-yaml";
import { expect, it } from "vitest";
import { toComment, toYaml } from "./yaml.ts";

it("writes what a YAML parser reads back unchanged", () => {
  const value = {
    word: "worker",
    "app.kubernetes.io/name": "a",
    number: 8081,
    yes: true,
    texts: [
      "8081",
      "true",
      "no",
      "",
      ":8081",
      "100%",
      "a: b",
      "a #b",
      "- x",
      "*x",
      "&x",
      "!x",
      "{}",
      "@x",
      "null",
      "x ",
    ],
    plain: ["registry.example/app:1.2", "/tmp/ready", "--stop-timeout=25s", "node"],
    quotes: `[ "$(cat /config/leader)" = "$POD_NAME" ]`,
    emptyList: [],
    emptyMap: {},
    nested: [{ a: 1, b: { c: ["d", { e: "f" }] } }, [1, 2]],
    script: "#!/bin/sh\n\nexit 0\n",
    unfinished: "one\ntwo",
  };
  expect(load(toYaml(value))).toEqual(value);
});

it("writes comments above fields, in short lines", () => {
  const why: Record<string, string> = { "a.b": "because", "list[1]": "the second", "list[1].x": "its field" };
  const text = toYaml({ a: { b: 1 }, list: [{ x: 1 }, { x: 2 }] }, (path) => why[path]);
  expect(text).toBe(
    "a:\n  # because\n  b: 1\nlist:\n  - x: 1\n  # the second\n  -\n    # its field\n    x: 2\n",
  );
  expect(load(text)).toEqual({ a: { b: 1 }, list: [{ x: 1 }, { x: 2 }] });
  const long = toComment("word ".repeat(100).trim(), "    ");
  expect(long.length).toBeGreaterThan(3);
  expect(Math.max(...long.map((line) => line.length))).toBeLessThanOrEqual(104);
});
