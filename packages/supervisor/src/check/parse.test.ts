import { describe, expect, it } from "vitest";
import { checkHealth, parseHealth, parseReady } from "./parse.ts";

describe("parseReady", () => {
  it.each([
    ["spawn", { kind: "spawn" }],
    ["ipc", { kind: "ipc" }],
    ["fd:3", { kind: "fd", fd: 3 }],
    ["file:/tmp/ready", { kind: "file", path: "/tmp/ready" }],
    ["log:listening on :\\d+", { kind: "log", pattern: /listening on :\d+/u }],
    ["http://localhost:8080/ready?x=1", { kind: "http", url: "http://localhost:8080/ready?x=1" }],
    ["tcp://127.0.0.1:5432", { kind: "tcp", host: "127.0.0.1", port: 5432 }],
    ["exec:test -f /tmp/x", { kind: "exec", argv: ["/bin/sh", "-c", "test -f /tmp/x"] }],
  ])("%s", (text, ready) => {
    expect(parseReady(text)).toEqual(ready);
  });

  it.each([
    ["", /must be one of spawn, fd:N, ipc, log:REGEX, file:PATH, http/],
    ["spawned", /ready must be one of .*, but is "spawned"/],
    ["fd:1", /number from 3 to 63 after fd:, because 0, 1 and 2 are in use/],
    ["fd:x", /number from 3/],
    ["log:(", /valid regular expression after log:/],
    ["log:", /must have a pattern/],
    ["file:", /must have a path/],
  ])("rejects %s", (text, message) => {
    expect(() => parseReady(text)).toThrow(message);
  });
});

describe("parseHealth", () => {
  it.each([
    ["https://[::1]:8443/", { kind: "http", url: "https://[::1]:8443/" }],
    ["tcp://[::1]:5432", { kind: "tcp", host: "::1", port: 5432 }],
    ["grpc://localhost:50051", { kind: "grpc", host: "localhost", port: 50051, service: "" }],
    ["grpc://db:50051/my.Service", { kind: "grpc", host: "db", port: 50051, service: "my.Service" }],
    ['exec:["cat", "/tmp/ok"]', { kind: "exec", argv: ["cat", "/tmp/ok"] }],
  ])("%s", (text, check) => {
    expect(parseHealth(text)).toEqual(check);
  });

  it.each([
    ["spawn", /must be one of http/],
    ["ftp://x", /must be one of http/],
    ["tcp://localhost", /must have a port/],
    ["tcp://localhost:99999", /must be a URL with a port/],
    ["exec:", /must have a command/],
    ["exec:[1]", /JSON list of words/],
    ["exec:[", /JSON list of words/],
  ])("rejects %s", (text, message) => {
    expect(() => parseHealth(text)).toThrow(message);
  });

  it("names every problem at once", () => {
    const { problems } = checkHealth("tcp://user@localhost/path?x");
    expect(problems.map(({ rule }) => rule)).toEqual([
      "must have a port",
      "must not have a user",
      "must not have ? or #",
      "must not have a path",
    ]);
  });
});
