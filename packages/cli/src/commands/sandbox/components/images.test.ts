import { expect, it } from "vitest";
import { imageProblems, parseImages } from "./images.ts";

it("reads names and what they stand for", () => {
  expect(parseImages(["web=./my-app", "job=sh -c 'a=b'"])).toEqual({ web: "./my-app", job: "sh -c 'a=b'" });
  expect(parseImages(undefined)).toEqual({});
});

it("rejects what names nothing, and says how to write it", () => {
  expect(imageProblems(["web=./my-app", "web", "=x", "web="]).map(({ value }) => value)).toEqual([
    "web",
    "=x",
    "web=",
  ]);
  expect(imageProblems(["web"])[0]?.fix).toContain("NAME=FOLDER-or-COMMAND");
});
