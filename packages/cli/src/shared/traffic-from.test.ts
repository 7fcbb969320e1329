import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubeClient, KubeRequest } from "@tenure/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fakePlatform } from "../testing/fake-platform.ts";
import { trafficFrom, trafficProblems } from "./traffic-from.ts";
import type { TrafficFlags } from "./traffic-options.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "tenure-traffic-flags-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const problems = (flags: TrafficFlags, env: Record<string, string> = {}, hasChild = true) =>
  trafficProblems(flags, fakePlatform("", { home, env }), { hasChild });

/** What is asked of the API server when the gates are prepared; it has nothing to answer. */
async function asked(flags: TrafficFlags, env: Record<string, string>): Promise<string[]> {
  const paths: string[] = [];
  const request = async ({ path }: KubeRequest) => {
    paths.push(path);
    throw new Error("nothing here");
  };
  const traffic = await trafficFrom({
    flags,
    connection: { client: { request } as unknown as KubeClient, namespace: "of-the-lock" },
    platform: fakePlatform("", { home, env }),
    election: "web",
    identity: "me",
    onError: () => {},
  });
  await traffic.prepare().catch(() => {});
  return paths;
}

describe("what is wrong with the flags", () => {
  it("nothing, without any", () => expect(problems({})).toEqual([]));

  it("nothing, with all of them", () => {
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

  it("everything at once", () => {
    const flags = {
      endpointSlice: "x",
      port: "0",
      address: "10.0.0.1",
      statusReady: "soon",
      statusTokenFile: "x",
    };
    expect(problems(flags)).toEqual([
      "--endpoint-slice needs --service, the Service that it is for",
      "--port needs --service, the Service that it is for",
      "--address needs --service, the Service that it is for",
      '--port must be a number, or name=number,name=number: "0"',
      '--status-ready must be one of always, leader, child-ready: "soon"',
      "--status-ready needs --status, where to serve it",
      "--status-token-file needs --status, where to serve it",
    ]);
  });

  it.each(["x", "70000", "http=", "=80", "http=80,", "a=1=2", "http=80 "])("--port %s", (port) => {
    expect(problems({ service: "web", port }, { POD_IP: "10.0.0.1" })).toHaveLength(1);
  });
});

describe("the gates", () => {
  it("are about the pod, in the pod's namespace, which need not be that of the lock", async () => {
    const env = { POD_NAME: "web-1", POD_NAMESPACE: "of-the-pod" };
    expect(await asked({ label: true }, env)).toEqual(["/api/v1/namespaces/of-the-pod/pods/web-1"]);
    expect(await asked({ label: true }, {})).toEqual(["/api/v1/namespaces/of-the-lock/pods/me"]);
  });

  it("one for each flag", async () => {
    const flags = { readyFile: join(home, "ready"), service: "web", leaderConfigmap: "named/chosen" };
    expect(await asked(flags, { POD_IP: "10.0.0.1" })).toEqual([
      "/api/v1/namespaces/of-the-lock/services/web",
      "/api/v1/namespaces/of-the-lock/configmaps/named",
    ]);
  });

  it("names that cannot be are a wrong command line", async () => {
    await expect(asked({ service: "Web" }, { POD_IP: "10.0.0.1" })).rejects.toMatchObject({
      code: "USAGE",
      message: expect.stringContaining("service must be 1 to 253 lower case letters"),
    });
  });
});
