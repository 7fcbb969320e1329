import { describe, expect, it } from "vitest";
import { bareHost, parseServer } from "./server-address.ts";

describe("parseServer", () => {
  it.each([
    "https://10.0.0.1:6443",
    "https://rancher/k8s/clusters/c-1",
    "http://127.0.0.1:8001",
    "http://127.9.9.9",
    "http://localhost:8080",
    "http://[::1]:8080",
  ])("takes %s", (server) => {
    expect(parseServer(server).href).toContain(server);
  });
  it.each([
    ["http://10.0.0.1:8080", "travel in clear"],
    ["http://127.0.0.1.evil.com", "travel in clear"],
    ["http://127.evil.com", "travel in clear"],
    ["http://[::2]", "travel in clear"],
    ["ftp://localhost", "must start with https://"],
    ["10.0.0.1:6443", "it is not a URL"],
    ["localhost:6443", "must start with https://"],
  ])("refuses %s: %s", (server, why) => {
    expect(() => parseServer(server)).toThrow(
      expect.objectContaining({ code: "BadConfig", message: expect.stringContaining(why) }),
    );
    expect(() => parseServer(server)).toThrow(server);
  });
});

it("strips the brackets that sockets do not want", () => {
  expect(bareHost("[fd00::1]")).toBe("fd00::1");
  expect(bareHost("api.example.com")).toBe("api.example.com");
});
