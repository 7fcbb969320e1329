import { describeProblems } from "@tenure/base";
import { expect, it } from "vitest";
import { flagOf } from "../../settings/problems.ts";
import { type UiFlags, uiProblems } from "./ui-flags.ts";

const given = { port: 0, host: "127.0.0.1" };

it.each<[string | undefined, Partial<UiFlags>, string[]]>([
  [undefined, {}, []],
  ["x", { replica: ["http://127.0.0.1:8080"] }, []],
  [undefined, { host: "0.0.0.0", readOnly: true }, []],
  [
    undefined,
    { html: "x.html" },
    ["--html needs --open; record something with tenure watch --record FILE first"],
  ],
  [
    undefined,
    { host: "0.0.0.0" },
    [
      "--host must be a loopback address, because everybody who reaches the page could act as you, but is 0.0.0.0; add --read-only",
    ],
  ],
  [
    "x",
    { allNamespaces: true },
    ["NAME cannot be combined with --all-namespaces; choose one namespace with -n"],
  ],
  [
    "x",
    { replica: ["ftp://a"] },
    ['--replica must be http://HOST:PORT or NAMESPACE/ELECTION=http://HOST:PORT, but is "ftp://a"'],
  ],
  [
    undefined,
    { replica: ["http://a:1"] },
    [
      '--replica must say whose replica it is, because several elections are followed, but is "http://a:1"; write NAMESPACE/ELECTION=http://a:1',
    ],
  ],
])("%s %j", (name, flags, expected) => {
  expect(describeProblems(uiProblems(name, { ...given, ...flags }), flagOf)).toEqual(expected);
});
