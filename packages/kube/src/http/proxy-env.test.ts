import { describe, expect, it } from "vitest";
import { proxyFromEnv } from "./proxy-env.ts";

const proxy = "http://proxy:3128";

describe("proxyFromEnv", () => {
  const lines: [why: string, server: string, env: Record<string, string>, expected: string | undefined][] = [
    ["HTTPS_PROXY is for https", "https://api.example.com", { HTTPS_PROXY: proxy }, proxy],
    ["lower case counts too", "https://api.example.com", { https_proxy: proxy }, proxy],
    ["HTTP_PROXY is not for https", "https://api.example.com", { HTTP_PROXY: proxy }, undefined],
    ["a proxy without scheme is http", "https://api.example.com", { HTTPS_PROXY: "proxy:3128" }, proxy],
    ["nothing set", "https://api.example.com", {}, undefined],
    ["loopback address is never proxied", "https://127.0.0.2:6443", { HTTPS_PROXY: proxy }, undefined],
    ["localhost is never proxied", "https://localhost:6443", { HTTPS_PROXY: proxy }, undefined],
    ["IPv6 loopback is never proxied", "https://[::1]:6443", { HTTPS_PROXY: proxy }, undefined],
    ["NO_PROXY star", "https://api.example.com", { HTTPS_PROXY: proxy, NO_PROXY: "*" }, undefined],
    [
      "NO_PROXY host itself",
      "https://example.com",
      { HTTPS_PROXY: proxy, NO_PROXY: "a, example.com" },
      undefined,
    ],
    [
      "NO_PROXY host covers subdomains",
      "https://api.example.com",
      { HTTPS_PROXY: proxy, NO_PROXY: "example.com" },
      undefined,
    ],
    [
      "NO_PROXY is not a suffix of letters",
      "https://myexample.com",
      { HTTPS_PROXY: proxy, NO_PROXY: "example.com" },
      proxy,
    ],
    [
      "NO_PROXY dot is only subdomains",
      "https://example.com",
      { HTTPS_PROXY: proxy, NO_PROXY: ".example.com" },
      proxy,
    ],
    [
      "NO_PROXY dot matches subdomain",
      "https://a.example.com",
      { HTTPS_PROXY: proxy, NO_PROXY: ".example.com" },
      undefined,
    ],
    [
      "NO_PROXY star dot",
      "https://a.example.com",
      { HTTPS_PROXY: proxy, NO_PROXY: "*.example.com" },
      undefined,
    ],
    [
      "NO_PROXY other port",
      "https://example.com:6443",
      { HTTPS_PROXY: proxy, NO_PROXY: "example.com:443" },
      proxy,
    ],
    [
      "NO_PROXY same port",
      "https://example.com:6443",
      { HTTPS_PROXY: proxy, NO_PROXY: "example.com:6443" },
      undefined,
    ],
    ["NO_PROXY address", "https://10.0.0.1", { HTTPS_PROXY: proxy, NO_PROXY: "10.0.0.1" }, undefined],
    ["NO_PROXY IPv6 address", "https://[fd00::1]", { HTTPS_PROXY: proxy, NO_PROXY: "fd00::1" }, undefined],
    ["NO_PROXY range", "https://10.1.2.3", { HTTPS_PROXY: proxy, NO_PROXY: "10.0.0.0/8" }, undefined],
    ["NO_PROXY range of others", "https://11.1.2.3", { HTTPS_PROXY: proxy, NO_PROXY: "10.0.0.0/8" }, proxy],
    [
      "NO_PROXY range that is none",
      "https://10.1.2.3",
      { HTTPS_PROXY: proxy, NO_PROXY: "10.0.0.0/99,x/y" },
      proxy,
    ],
    ["NO_PROXY range of IPv6", "https://[fd00::1]", { HTTPS_PROXY: proxy, NO_PROXY: "fd00::/8" }, undefined],
    [
      "NO_PROXY is case-insensitive",
      "https://example.com",
      { HTTPS_PROXY: proxy, NO_PROXY: "EXAMPLE.com" },
      undefined,
    ],
  ];
  it.each(lines)("%s", (_why, server, env, expected) => {
    expect(proxyFromEnv(new URL(server), env)).toBe(expected);
  });
});
