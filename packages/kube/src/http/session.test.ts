/** What a session asks of Node, without a network. */
import { describe, expect, it } from "vitest";
import type { ClusterConfig } from "../config.ts";
import { KubeError } from "../errors.ts";
import { FakePlatform, fixedCredentials } from "../testing/fake-platform.ts";
import { openSession } from "./session.ts";

async function open(config: Partial<ClusterConfig> = {}) {
  const requests: Record<string, unknown>[] = [];
  const agents: object[] = [];
  class Agent {
    constructor(options: object) {
      agents.push(options);
    }
    destroy() {}
  }
  const request = (options: object) => {
    requests.push({ ...options });
    return {};
  };
  const platform = Object.assign(new FakePlatform(), { http: { request, Agent } as never });
  const session = await openSession(
    { server: "https://api", credentials: fixedCredentials({ authorization: "Bearer t" }), ...config },
    { platform, userAgent: "test/1", maxConnections: 3 },
  );
  const send = async (headers = {}) => {
    const start = await session.prepare();
    start({ method: "GET", path: "/version", headers }, session.watchAgent());
    const { connection, ...options } = requests.at(-1) as Record<string, unknown> & { connection: object };
    // As the agent puts them together when it connects.
    return { ...options, ...connection } as Record<string, unknown>;
  };
  return { session, send, agents };
}

describe("a request", () => {
  it.each([
    ["https://api", { host: "api", port: 443, path: "/version" }],
    ["http://localhost", { host: "localhost", port: 80, path: "/version" }],
    ["https://[fd00::1]:6443/prefix//", { host: "fd00::1", port: "6443", path: "/prefix/version" }],
  ])("to %s goes there", async (server, expected) => {
    const { send, session } = await open({ server });
    expect(await send()).toMatchObject({ ...expected, method: "GET", autoSelectFamilyAttemptTimeout: 1_000 });
    expect(session.server).toBe(new URL(server).origin);
  });

  it("sends its own headers and those of the credentials", async () => {
    const { send } = await open();
    expect((await send({ "content-type": "text/plain" })).headers).toEqual({
      accept: "application/json",
      "user-agent": "test/1",
      "content-type": "text/plain",
      authorization: "Bearer t",
    });
  });

  it("uses the certificates of the credentials before those of the cluster", async () => {
    const tls = async () => ({ ca: "their CA", cert: "CERT", key: "KEY" });
    const { send } = await open({
      ca: "CA",
      tlsServerName: "inner",
      credentials: { ...fixedCredentials(), tls },
    });
    expect(await send()).toMatchObject({
      ca: "their CA",
      cert: "CERT",
      key: "KEY",
      rejectUnauthorized: true,
      servername: "inner",
    });
  });

  it("uses the authority of the cluster, and the name of the host unless another is set", async () => {
    const request = await (await open({ ca: "CA", skipTlsVerify: true })).send();
    expect(request).toMatchObject({ ca: "CA", rejectUnauthorized: false });
    expect(request).not.toHaveProperty("servername");
  });
});

it("keeps connections of requests alive, but not those of a watch", async () => {
  const { session, agents } = await open();
  session.watchAgent();
  expect(agents).toContainEqual({ keepAlive: false, keepAliveMsecs: 15_000, maxSockets: 3 });
  session.pools.acquire(() => {});
  expect(agents).toContainEqual({ keepAlive: true, keepAliveMsecs: 15_000, maxSockets: 3 });
});

describe("explain", () => {
  const stale = { ...fixedCredentials(), problem: () => "The token is old." };
  it.each([
    ["It failed.", "It failed. The token is old."],
    ["Did it fail?", "Did it fail? The token is old."],
    ["It failed", "It failed. The token is old."],
  ])("adds the problem of the credentials to %j", async (message, expected) => {
    const { session } = await open({ credentials: stale });
    const facts = { status: 500, reason: "R", retryAfterMs: 5, details: { a: 1 }, cause: "why" };
    expect(session.explain(new KubeError("ServerError", message, facts))).toMatchObject({
      code: "ServerError",
      message: expected,
      ...facts,
    });
  });

  it("does not change an error if there is no problem, or an error of somebody else", async () => {
    const ours = new KubeError("ServerError", "It failed.");
    const other = new Error("It failed.");
    expect((await open()).session.explain(ours)).toBe(ours);
    expect((await open({ credentials: stale })).session.explain(other)).toBe(other);
  });
});

describe("credentials that fail", () => {
  it.each([
    ["an error of somebody else", new Error("boom"), "BadConfig", "Cannot get credentials: boom"],
    ["an error of this package", new KubeError("ExecPlugin", "no plugin"), "ExecPlugin", "no plugin"],
  ])("are reported: %s", async (_what, error, code, message) => {
    const fail = () => Promise.reject(error);
    const { session } = await open({ credentials: { headers: fail, tls: async () => ({}), refresh: fail } });
    await expect(session.prepare()).rejects.toMatchObject({ code, message });
    await expect(session.refresh()).rejects.toMatchObject({ code, message });
  });
});
