import { expect, test } from "vitest";
import { checkBrowserRequest } from "./browser-guard.ts";

const names = new Set(["localhost", "sandbox.test"]);

test.each([
  { host: "localhost:8080" },
  { host: "LocalHost" },
  { host: "sandbox.test:6443" },
  { host: "10.1.2.3:8080" },
  { host: "[::1]:8080" },
  { host: "localhost:8080", origin: "http://localhost:8080" },
  {},
])("%j is accepted", (headers) => {
  expect(() => checkBrowserRequest(headers, names)).not.toThrow();
});

test.each([
  { host: "evil.example:8080" },
  { host: "localhost.evil.example" },
  { host: "not a host" },
  { host: "localhost:8080", origin: "http://evil.example" },
  { host: "localhost:8080", origin: "http://localhost:3000" },
  { host: "localhost:8080", origin: "null" },
])("%j is rejected", (headers) => {
  expect(() => checkBrowserRequest(headers, names)).toThrow(/^forbidden: /);
});
