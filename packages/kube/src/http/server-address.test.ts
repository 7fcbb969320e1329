import { describe, expect, it } from "vitest";
import { bareHost, parseServer } from "./server-address.ts";

describe("parseServer", () => {
  it.each([
    "https://10.0.0.1:6443",
    "https://rancher/k8s/clusters/c-1",
    "http://127.0.0.1:8001",
    "http://127.9.9.9",
    "http://localhost:8080",
    "http://api.localhost:8080",
    "http://[::1]:8080",
  ])("accepts %s", (server) => {
    expect(parseServer(server).href).toContain(server);
  });
  it.each([
    ["http://10.0.0.1:8080", "unencrypted"],
    ["http://127.0.0.1.evil.com", "unencrypted"],
    ["http://127.evil.com", "unencrypted"],
    ["http://localhost.evil.com", "unencrypted"],
    ["http://notlocalhost", "unencrypted"],
    ["http://[::2]", "unencrypted"],
    ["ftp://localhost", "must start with https://"],
    ["10.0.0.1:6443", "it is not a URL"],
    ["localhost:6443", "must start with https://"],
  ])("rejects %s: %s", (server, why) => {
    expect(() => parseServer(server)).toThrow(
      expect.objectContaining({ code: "BadConfig", message: expect.stringContaining(why) }),
    );
    expect(() => parseServer(server)).toThrow(server);
  });
});

it("removes the brackets around an IPv6 address", () => {
  expect(bareHost("[fd00::1]")).toBe("fd00::1");
  expect(bareHost("api.example.com")).toBe("api.example.com");
});
