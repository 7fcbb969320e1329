import { describeProblems } from "@tenure/base";
import { expect, it } from "vitest";
import { endpointProblems, readEndpoints } from "./endpoints.ts";

it("reads addresses with and without a scheme and a port", () => {
  expect(readEndpoints(["a", "http://b:1", "[::1]:2"])).toEqual({
    addresses: ["a:2379", "b:1", "[::1]:2"],
    isTls: false,
  });
  expect(readEndpoints(["https://a"])).toEqual({ addresses: ["a:2379"], isTls: true });
});

it.each([
  [undefined],
  [[]],
  [[""]],
  [["ftp://a"]],
  [["http://a/path"]],
  [["http://u:p@a"]],
  [["a b"]],
  [[3]],
])("rejects %j", (endpoints) => {
  expect(describeProblems(endpointProblems(endpoints))).toEqual([
    expect.stringMatching(/^endpoints must be a list of addresses like https:\/\/HOST:2379, but is /),
  ]);
});

it("rejects a mixture of encrypted and plain endpoints", () => {
  expect(describeProblems(endpointProblems(["https://a", "b"]))).toEqual([
    "endpoints must all use https, or none of them, but is https://a,b",
  ]);
});
