import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeProblems } from "@tenure/base";
import { VirtualClock } from "@tenure/base/virtual-clock";
import { type KubeClient, KubeError, type KubeRequest } from "@tenure/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { flagOf } from "../settings/problems.ts";
import type { TrafficFlags } from "../settings/traffic-options.ts";
import { fakePlatform } from "../testing/fake-platform.ts";
import { createTraffic, trafficProblems } from "./create-traffic.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "tenure-traffic-flags-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const problems = (flags: TrafficFlags, env: Record<string, string> = {}, hasChild = true) =>
  describeProblems(trafficProblems(flags, fakePlatform("", { home, env }), { hasChild }), flagOf);

/** The paths that preparing the gates requests from the API server. Every request fails. */
async function requestedPaths(flags: TrafficFlags, env: Record<string, string>): Promise<string[]> {
  const paths: string[] = [];
  const request = async ({ path }: KubeRequest) => {
    paths.push(path);
    throw new Error("nothing here");
  };
  const traffic = await createTraffic({
    flags,
    connection: { client: { request } as unknown as KubeClient, namespace: "of-the-lock" },
    platform: fakePlatform("", { home, env }),
    election: "web",
    identity: "me",
    onError: () => {},
  });
  await traffic.prepare(new AbortController().signal).catch(() => {});
  return paths;
}

describe("the problems of the flags", () => {
  it("none without flags", () => expect(problems({})).toEqual([]));

  it("none with all flags", () => {
    const flags = {
      readyFile: "/tmp/ready",
      label: true,
      service: "web",
      endpointSlice: "web-leader",
      port: "http=8080,grpc=9090",
      leaderConfigmap: "leader-config",
      status: ":8080",
      statusReady: "child-ready",
      statusTokenFile: "/token",
    };
    expect(problems(flags, { POD_IP: "10.0.0.1" })).toEqual([]);
  });

  it("are all reported at once", () => {
    const flags = {
      endpointSlice: "x",
      port: "0",
      address: "10.0.0.1",
      statusReady: "soon",
      statusTokenFile: "x",
    };
    expect(problems(flags)).toEqual([
      "--endpoint-slice requires --service",
      "--port requires --service",
      "--address requires --service",
      '--port must be a port, or name=port,name=port, but is "0"',
      '--status-ready must be one of always, elected, leader, child-ready, but is "soon"',
      "--status-ready requires --status",
      "--status-token-file requires --status",
    ]);
  });

  it.each(["x", "70000", "http=", "=80", "http=80,", "a=1=2", "http=80 "])("--port %s", (port) => {
    expect(problems({ service: "web", port }, { POD_IP: "10.0.0.1" })).toHaveLength(1);
  });
});

describe("the gates", () => {
  it("use the namespace of the pod, which may differ from that of the lock", async () => {
    const env = { POD_NAME: "web-1", POD_NAMESPACE: "of-the-pod" };
    expect(await requestedPaths({ label: true }, env)).toEqual(["/api/v1/namespaces/of-the-pod/pods/web-1"]);
    expect(await requestedPaths({ label: true }, {})).toEqual(["/api/v1/namespaces/of-the-lock/pods/me"]);
  });

  it("there is one for each flag", async () => {
    const flags = { readyFile: join(home, "ready"), service: "web", leaderConfigmap: "named/chosen" };
    expect(await requestedPaths(flags, { POD_IP: "10.0.0.1" })).toEqual([
      "/api/v1/namespaces/of-the-lock/services/web",
      "/api/v1/namespaces/of-the-lock/configmaps/named",
    ]);
  });

  it("invalid names are usage errors", async () => {
    await expect(requestedPaths({ service: "Web" }, { POD_IP: "10.0.0.1" })).rejects.toMatchObject({
      code: "Usage",
      message: expect.stringContaining("service must be 1 to 253 lower case"),
    });
  });
});

describe("prepare", () => {
  function preparing(answer: () => unknown) {
    const clock = new VirtualClock();
    const platform = fakePlatform("", { home, env: { POD_NAME: "me" }, clock });
    const messages: string[] = [];
    const traffic = createTraffic({
      flags: { label: true },
      connection: { client: { request: async () => answer() } as unknown as KubeClient, namespace: "ns" },
      platform,
      election: "web",
      identity: "me",
      onError: (error) => messages.push(error.message),
    });
    const abort = new AbortController();
    const prepared = traffic.then(({ prepare }) => prepare(abort.signal));
    return { clock, messages, abort, prepared };
  }

  it("waits for an API server that does not answer, and names the cause with growing pauses", async () => {
    let isUp = false;
    const { clock, messages, prepared } = preparing(() => {
      if (!isUp) throw new KubeError("Unreachable", "connection refused");
      return { metadata: { name: "me", labels: {} }, items: [] };
    });
    await clock.until(() => messages.length >= 3);
    expect(messages[0]).toContain("connection refused. Next attempt");
    expect(messages.map((text) => /Next attempt in \w+/.exec(text)?.[0])).toEqual(
      ["1s", "2s", "4s"].map((pause) => `Next attempt in ${pause}`),
    );
    isUp = true;
    await clock.pass(30_000);
    await prepared;
  });

  it("rejects at once if rights are missing", async () => {
    const { messages, prepared } = preparing(() => {
      throw new KubeError("Forbidden", "may not get pods");
    });
    await expect(prepared).rejects.toThrow("may not get pods");
    expect(messages).toEqual([]);
  });

  it("ends when it is asked to stop", async () => {
    const { clock, messages, abort, prepared } = preparing(() => {
      throw new KubeError("Unreachable", "connection refused");
    });
    const ended = prepared.catch((error: Error) => error.name);
    await clock.until(() => messages.length >= 1);
    abort.abort();
    expect(await ended).toBe("AbortError");
  });
});
