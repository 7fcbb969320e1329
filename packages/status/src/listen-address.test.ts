import { describeProblems } from "@tenure/base";
import { expect, it } from "vitest";
import { parseListenAddress } from "./listen-address.ts";

it.each([
  [":8080", { kind: "tcp", host: undefined, port: 8080 }],
  ["127.0.0.1:0", { kind: "tcp", host: "127.0.0.1", port: 0 }],
  ["0.0.0.0:4040", { kind: "tcp", host: "0.0.0.0", port: 4040 }],
  ["localhost:80", { kind: "tcp", host: "localhost", port: 80 }],
  ["[::1]:8080", { kind: "tcp", host: "::1", port: 8080 }],
  ["unix:/run/x.sock", { kind: "unix", path: "/run/x.sock" }],
])("%s", (text, address) => expect(parseListenAddress(text).value).toEqual(address));

it.each([
  ["8080", "write :8080 for every interface, or 127.0.0.1:8080 for this machine only"],
  ["", "must be :PORT, HOST:PORT or unix:PATH"],
  ["::1:80", "must be :PORT, HOST:PORT or unix:PATH"],
  ["host:http", "must be :PORT, HOST:PORT or unix:PATH"],
  [":70000", "must have a port from 0 to 65535"],
  ["unix:", "must have a path after unix:"],
  [`unix:/${"x".repeat(120)}`, "at most 107 bytes"],
])("rejects %j", (text, problem) => {
  expect(describeProblems(parseListenAddress(text).problems).join()).toContain(problem);
});
