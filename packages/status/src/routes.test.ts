import { join } from "node:path";
import type { ScriptedElection } from "@tenure/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { StatusServerOptions } from "./server.ts";
import { ask } from "./testing/http.ts";
import { StatusRig } from "./testing/status-server.ts";

let rig: StatusRig;
let election: ScriptedElection;

beforeEach(async () => {
  rig = await StatusRig.make();
  ({ election } = rig);
});
afterEach(() => rig.end());

const start = (options: Partial<StatusServerOptions> = {}) => rig.start(options);
const json = async (address: string, path = "/leader") => JSON.parse((await ask(address, path)).body);

describe("/ and /leader", () => {
  it("before anybody leads", async () => {
    expect(await json(await start(), "/")).toEqual({
      name: "",
      leader: null,
      identity: "a",
      isLeader: false,
      token: null,
      since: null,
      phase: "follower",
      leaseSecondsLeft: null,
      healthy: true,
      message: "waiting",
    });
  });

  it("while another one leads", async () => {
    const address = await start();
    election.follow("b");
    expect(await json(address)).toMatchObject({ name: "b", leader: "b", isLeader: false, token: null });
    expect(Date.parse((await json(address)).since)).toBeGreaterThan(Date.now() - 5_000);
  });

  it("while this replica leads: the token as text, and the seconds left", async () => {
    const address = await start();
    election.win({ token: 12345678901234567890n });
    election.setRemaining(12_345);
    expect(await json(address)).toMatchObject({
      name: "a",
      isLeader: true,
      token: "12345678901234567890",
      phase: "leader",
      leaseSecondsLeft: 12.345,
    });
  });

  it("a leader that is ending its term names nobody, though it holds the lease", async () => {
    const address = await start();
    election.win({ token: 7n, lastsMs: 9_000 });
    election.askToStop();
    expect(await json(address)).toMatchObject({
      name: "",
      leader: null,
      isLeader: false,
      token: null,
      phase: "pre-follower",
    });
  });

  it("a leader whose time has run out names nobody, even if nobody told it so", async () => {
    const address = await start();
    election.win({ token: 7n, lastsMs: 9_000 });
    election.setRemaining(0);
    expect(await json(address)).toMatchObject({ name: "", isLeader: false, token: null });
  });

  it("what a supervisor knows is part of it", async () => {
    const child = { ready: true, restarts: 2, state: "running", pid: 42 };
    const address = await start({ source: { election, phase: () => "pre-leader", child: () => child } });
    expect(await json(address)).toMatchObject({ phase: "pre-leader", child });
  });
});

describe("/healthz", () => {
  it("200 while healthy, 503 with a sentence otherwise", async () => {
    const address = await start();
    expect(await ask(address, "/healthz")).toMatchObject({ status: 200, body: "ok: waiting\n" });
    election.nextHealth = { healthy: false, message: "nothing heard of lease prod/web for 31 s" };
    expect(await ask(address, "/healthz?verbose")).toMatchObject({
      status: 503,
      body: "unhealthy: nothing heard of lease prod/web for 31 s\n",
    });
  });
});

describe("/readyz", () => {
  it("always: standbys are ready too", async () => {
    expect((await ask(await start(), "/readyz")).status).toBe(200);
  });

  it("leader: only the leader is", async () => {
    const address = await start({ readyMode: "leader" });
    expect((await ask(address, "/readyz")).status).toBe(503);
    election.win({ token: 7n, lastsMs: 9_000 });
    expect((await ask(address, "/readyz")).status).toBe(200);
    election.setRemaining(0);
    expect((await ask(address, "/readyz")).status).toBe(503);
  });

  it("child-ready: only the leader is, when its child is", async () => {
    let ready = false;
    const source = { election, child: () => ({ ready }) };
    const address = await start({ readyMode: "child-ready", source });
    election.win({ token: 7n, lastsMs: 9_000 });
    expect((await ask(address, "/readyz")).status).toBe(503);
    ready = true;
    expect((await ask(address, "/readyz")).status).toBe(200);
    election.end();
    expect((await ask(address, "/readyz")).status).toBe(503);
  });
});

describe("POST /step-down", () => {
  it("over TCP without a token is refused, with the way out", async () => {
    election.win({ token: 7n, lastsMs: 9_000 });
    const { status, body } = await ask(await start(), "/step-down", { method: "POST" });
    expect(status).toBe(403);
    expect(body).toContain("Start it with --status-token-file, or with --status unix:PATH");
    expect(rig.stepped).toBe(0);
  });

  it("takes the token, and no other, and heeds that it rotates", async () => {
    let token = "first\n";
    const address = await start({ token: async () => token });
    election.win({ token: 7n, lastsMs: 9_000 });
    const post = async (given?: string) => {
      const headers: Record<string, string> = given === undefined ? {} : { authorization: given };
      return ask(address, "/step-down", { method: "POST", headers });
    };
    const none = await post();
    expect([none.status, none.headers["www-authenticate"]]).toEqual([401, "Bearer"]);
    for (const wrong of ["Bearer wrong", "Bearer ", "Basic first", "first"]) {
      expect((await post(wrong)).status).toBe(401);
    }
    expect((await post("Bearer first")).status).toBe(202);
    token = "second";
    expect((await post("Bearer first")).status).toBe(401);
    expect((await post("bearer second")).status).toBe(202);
    expect(rig.stepped).toBe(2);
    token = "";
    expect((await post("Bearer ")).status).toBe(401);
  });

  it("a token that cannot be read opens nothing", async () => {
    election.win({ token: 7n, lastsMs: 9_000 });
    const address = await start({ token: () => Promise.reject(new Error("ENOENT")) });
    const headers = { authorization: "Bearer x" };
    expect((await ask(address, "/step-down", { method: "POST", headers })).status).toBe(500);
    expect(rig.stepped).toBe(0);
  });

  it("on a unix socket needs none; who does not lead cannot step down", async () => {
    const address = await start({ listen: `unix:${join(rig.folder, "s")}` });
    expect((await ask(address, "/step-down", { method: "POST" })).status).toBe(409);
    election.win({ token: 7n, lastsMs: 9_000 });
    expect((await ask(address, "/step-down", { method: "POST" })).status).toBe(202);
    expect(rig.stepped).toBe(1);
  });
});

describe("methods and paths", () => {
  it.each(["/", "/leader", "/healthz", "/readyz", "/events"])(
    "HEAD %s is GET without a body",
    async (path) => {
      const address = await start();
      const head = await ask(address, path, { method: "HEAD" });
      expect([head.status, head.body]).toEqual([200, ""]);
      if (path !== "/events") {
        expect(head.headers["content-length"]).toBe((await ask(address, path)).headers["content-length"]);
      }
    },
  );

  it.each([
    ["POST", "/leader", "GET, HEAD"],
    ["DELETE", "/healthz", "GET, HEAD"],
    ["GET", "/step-down", "POST"],
    ["HEAD", "/step-down", "POST"],
    ["POST", "/events", "GET, HEAD"],
  ])("%s %s is 405 and says what is allowed", async (method, path, allow) => {
    const answer = await ask(await start(), path, { method });
    expect([answer.status, answer.headers.allow]).toEqual([405, allow]);
  });

  it.each(["/nothing", "//leader", "/leader/", "/constructor", "/__proto__"])(
    "%s is 404, with what there is",
    async (path) => {
      const { status, body } = await ask(await start(), path);
      expect(status).toBe(404);
      expect(body).toContain("try /, /leader, /events, /healthz, /readyz, /metrics, /step-down");
    },
  );

  it("/metrics without metrics says so; with them it has their type", async () => {
    expect((await ask(await start(), "/metrics")).status).toBe(404);
    await rig.server?.close();
    const metrics = { contentType: "text/x", render: async () => "up 1\n" };
    expect(await ask(await start({ metrics }), "/metrics")).toMatchObject({
      status: 200,
      body: "up 1\n",
      headers: { "content-type": "text/x" },
    });
  });

  it("what goes wrong inside is 500 in a sentence, and the next one is served", async () => {
    const metrics = { contentType: "text/x", render: () => Promise.reject(new Error("no figures")) };
    const address = await start({ metrics });
    expect(await ask(address, "/metrics")).toMatchObject({ status: 500, body: "no figures\n" });
    expect((await ask(address, "/healthz")).status).toBe(200);
  });

  it("a body is of no interest", async () => {
    const answer = await ask(await start(), "/leader", {
      headers: { "content-length": "100000" },
      body: "x".repeat(100_000),
    });
    expect([answer.status, answer.headers.connection]).toEqual([200, "close"]);
  });
});
