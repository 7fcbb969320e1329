import { afterAll, beforeAll, expect, test } from "vitest";
import { type Sandbox, startSandbox } from "../sandbox.ts";
import { leasesPath, send } from "../testing/client.ts";
import { warningHeaders } from "./warnings.ts";

const ofLength = (length: number, first: string) => first + "x".repeat(length - 1);
const lengths = (headers: string[]) => headers.map((header) => header.length - '299 - ""'.length);

test.each([
  ["no warnings make no headers", [], []],
  ["duplicates are dropped", ["a", "b", "a"], ["a", "b"]],
  ["quotes are escaped", ['unknown field "a"'], [String.raw`unknown field \"a\"`]],
])("%s", (_, warnings, texts) => {
  expect(warningHeaders(warnings)).toEqual(texts.map((text) => `299 - "${text}"`));
});

test("text is sent as UTF-8", () => {
  const [header = ""] = warningHeaders(["größe 😀"]);
  expect(Buffer.from(header, "latin1").toString()).toBe('299 - "größe 😀"');
});

test("warnings are not truncated if all of them fit", () => {
  expect(lengths(warningHeaders([ofLength(4000, "a"), ofLength(96, "b")]))).toEqual([4000, 96]);
});

test("long warnings are truncated if not all of them fit", () => {
  expect(lengths(warningHeaders([ofLength(4000, "a"), ofLength(97, "b")]))).toEqual([256, 97]);
});

test("warnings beyond the limit are dropped", () => {
  const many = Array.from({ length: 1000 }, (_, index) => String(index).padStart(256, "0"));
  expect(warningHeaders(many)).toHaveLength(16);
});

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ tls: false });
});
afterAll(() => sandbox.close());

test("a client can read the response to a thousand unknown fields", async () => {
  const fields = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`field-${index}`, index]));
  const { status } = await send(sandbox, "POST", leasesPath, { metadata: { name: "a" }, ...fields });
  expect(status).toBe(201);
});
