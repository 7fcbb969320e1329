import { describe, expect, it } from "vitest";
import { proxyFromEnv } from "./proxy-env.ts";

const proxy = "http://proxy:3128";

describe("proxyFromEnv", () => {
  const lines: [why: string, server: string, env: Record<string, string>, expected: string | undefined][] = [
    ["HTTPS_PROXY applies to https", "https://api.example.com", { HTTPS_PROXY: proxy }, proxy],
    ["lower-case names work", "https://api.example.com", { https_proxy: proxy }, proxy],
    ["HTTP_PROXY does not apply to https", "https://api.example.com", { HTTP_PROXY: proxy }, undefined],
    ["a proxy without a scheme uses http", "https://api.example.com", { HTTPS_PROXY: "proxy:3128" }, proxy],
    ["no variable is set", "https://api.example.com", {}, undefined],
    ["a loopback address is never proxied", "https://127.0.0.2:6443", { HTTPS_PROXY: proxy }, undefined],
    ["localhost is never proxied", "https://localhost:6443", { HTTPS_PROXY: proxy }, undefined],
    ["IPv6 loopback is never proxied", "https://[::1]:6443", { HTTPS_PROXY: proxy }, undefined],
    [
      "NO_PROXY * matches every host",
      "https://api.example.com",
      { HTTPS_PROXY: proxy, NO_PROXY: "*" },
      undefined,
    ],
    [
      "NO_PROXY host matches the host",
      "https://example.com",
      { HTTPS_PROXY: proxy, NO_PROXY: "a, example.com" },
      undefined,
    ],
    [
      "NO_PROXY host matches subdomains",
      "https://api.example.com",
      { HTTPS_PROXY: proxy, NO_PROXY: "example.com" },
      undefined,
    ],
    [
      "NO_PROXY host matches whole labels only",
      "https://myexample.com",
      { HTTPS_PROXY: proxy, NO_PROXY: "example.com" },
      proxy,
    ],
    [
      "NO_PROXY with a leading dot does not match the host itself",
      "https://example.com",
      { HTTPS_PROXY: proxy, NO_PROXY: ".example.com" },
      proxy,
    ],
    [
      "NO_PROXY with a leading dot matches subdomains",
      "https://a.example.com",
      { HTTPS_PROXY: proxy, NO_PROXY: ".example.com" },
      undefined,
    ],
    [
      "NO_PROXY with *. matches subdomains",
      "https://a.example.com",
      { HTTPS_PROXY: proxy, NO_PROXY: "*.example.com" },
      undefined,
    ],
    [
      "NO_PROXY with another port does not match",
      "https://example.com:6443",
      { HTTPS_PROXY: proxy, NO_PROXY: "example.com:443" },
      proxy,
    ],
    [
      "NO_PROXY with the same port matches",
      "https://example.com:6443",
      { HTTPS_PROXY: proxy, NO_PROXY: "example.com:6443" },
      undefined,
    ],
    ["NO_PROXY address matches", "https://10.0.0.1", { HTTPS_PROXY: proxy, NO_PROXY: "10.0.0.1" }, undefined],
    [
      "NO_PROXY IPv6 address matches",
      "https://[fd00::1]",
      { HTTPS_PROXY: proxy, NO_PROXY: "fd00::1" },
      undefined,
    ],
    ["NO_PROXY range matches", "https://10.1.2.3", { HTTPS_PROXY: proxy, NO_PROXY: "10.0.0.0/8" }, undefined],
    [
      "NO_PROXY range of other addresses does not match",
      "https://11.1.2.3",
      { HTTPS_PROXY: proxy, NO_PROXY: "10.0.0.0/8" },
      proxy,
    ],
    [
      "invalid NO_PROXY ranges match nothing",
      "https://10.1.2.3",
      { HTTPS_PROXY: proxy, NO_PROXY: "10.0.0.0/99,x/y" },
      proxy,
    ],
    [
      "NO_PROXY IPv6 range matches",
      "https://[fd00::1]",
      { HTTPS_PROXY: proxy, NO_PROXY: "fd00::/8" },
      undefined,
    ],
    [
      "an empty entry of NO_PROXY matches nothing",
      "https://example.com",
      { HTTPS_PROXY: proxy, NO_PROXY: "a,, b," },
      proxy,
    ],
    [
      "a range in NO_PROXY does not match a name",
      "https://example.com",
      { HTTPS_PROXY: proxy, NO_PROXY: "0.0.0.0/0" },
      proxy,
    ],
    [
      "a range of the other family does not match",
      "https://10.0.0.1",
      { HTTPS_PROXY: proxy, NO_PROXY: "::/0" },
      proxy,
    ],
    [
      "a range without a number of bits does not match",
      "https://10.0.0.1",
      { HTTPS_PROXY: proxy, NO_PROXY: "10.0.0.0/x" },
      proxy,
    ],
    [
      "a range with too many bits does not match",
      "https://10.0.0.1",
      { HTTPS_PROXY: proxy, NO_PROXY: "10.0.0.0/99" },
      proxy,
    ],
    [
      "a port in NO_PROXY matches the default port of https",
      "https://example.com",
      { HTTPS_PROXY: proxy, NO_PROXY: "example.com:443" },
      undefined,
    ],
    [
      "a port in NO_PROXY matches the default port of http",
      "http://example.com",
      { HTTP_PROXY: proxy, no_proxy: "example.com:80" },
      undefined,
    ],
    [
      "lower-case http_proxy applies to http",
      "http://example.com",
      { http_proxy: proxy, HTTPS_PROXY: "http://other" },
      proxy,
    ],
    [
      "NO_PROXY *.host does not match the host itself",
      "https://example.com",
      { HTTPS_PROXY: proxy, NO_PROXY: "*.example.com" },
      proxy,
    ],
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
