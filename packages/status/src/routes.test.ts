import { join } from "node:path";
import { newReplica, type ScriptedElection } from "@tenure/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { StatusServerOptions } from "./server.ts";
import { sendRequest } from "./testing/http.ts";
import { TestStatusServer } from "./testing/test-status-server.ts";

let fixture: TestStatusServer;
let election: ScriptedElection;

beforeEach(async () => {
  fixture = await TestStatusServer.create();
  ({ election } = fixture);
});
afterEach(() => fixture.close());

const start = (options: Partial<StatusServerOptions> = {}) => fixture.start(options);
const json = async (address: string, path = "/leader") => JSON.parse((await sendRequest(address, path)).body);

describe("/ and /leader", () => {
  it("report no leader before the first election", async () => {
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

  it("report another replica as leader", async () => {
    const address = await start();
    election.follow("b");
    expect(await json(address)).toMatchObject({ name: "b", leader: "b", isLeader: false, token: null });
    expect(Date.parse((await json(address)).since)).toBeGreaterThan(Date.now() - 5_000);
  });

  it("report this replica as leader, with its token as text and the seconds left", async () => {
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

  it("report no leader while this replica ends its term, although it still holds the lease", async () => {
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

  it("report no leader if the term of this replica has expired, even without an event", async () => {
    const address = await start();
    election.win({ token: 7n, lastsMs: 9_000 });
    election.setRemaining(0);
    expect(await json(address)).toMatchObject({ name: "", isLeader: false, token: null });
  });

  it("include the phase and the child of a supervisor", async () => {
    const child = { ready: true, restarts: 2, state: "running", pid: 42 };
    const address = await start({ source: { election, phase: () => "pre-leader", child: () => child } });
    expect(await json(address)).toMatchObject({ phase: "pre-leader", child });
  });
});

describe("/healthz", () => {
  it("responds 200 while healthy, otherwise 503 with a sentence", async () => {
    const address = await start();
    expect(await sendRequest(address, "/healthz")).toMatchObject({ status: 200, body: "ok: waiting\n" });
    election.nextHealth = { healthy: false, message: "nothing heard of lease prod/web for 31 s" };
    expect(await sendRequest(address, "/healthz?verbose")).toMatchObject({
      status: 503,
      body: "unhealthy: nothing heard of lease prod/web for 31 s\n",
    });
  });
});

describe("/readyz", () => {
  it("in mode always, every replica is ready", async () => {
    expect((await sendRequest(await start(), "/readyz")).status).toBe(200);
  });

  it("in mode elected, a replica is ready while it knows of a leader", async () => {
    const address = await start({ readyMode: "elected" });
    const none = await sendRequest(address, "/readyz");
    expect([none.status, none.body]).toEqual([503, "not ready: this replica knows of no leader\n"]);
    election.follow("b");
    const other = await sendRequest(address, "/readyz");
    expect([other.status, other.body]).toEqual([200, "ready: b leads\n"]);
    election.follow(undefined);
    expect((await sendRequest(address, "/readyz")).status).toBe(503);
    election.win({ token: 7n, lastsMs: 9_000 });
    expect((await sendRequest(address, "/readyz")).status).toBe(200);
    election.setRemaining(0);
    expect((await sendRequest(address, "/readyz")).status).toBe(503);
  });

  it("in mode elected, a standby is ready until the lease that it saw last has expired", async () => {
    const leader = newReplica({ identity: "a" });
    const standby = newReplica({ identity: "b", server: leader.server });
    leader.run();
    await leader.clock.until(() => leader.terms.length === 1);
    standby.run();
    const address = await start({ readyMode: "elected", source: standby, clock: leader.clock });
    await leader.clock.until(() => standby.election.leader === "a");
    expect((await sendRequest(address, "/readyz")).status).toBe(200);
    for (const { lock } of [leader, standby]) lock.cut();
    await leader.clock.pass(10_000);
    expect((await sendRequest(address, "/readyz")).status).toBe(200);
    await leader.clock.pass(10_000);
    expect((await sendRequest(address, "/readyz")).status).toBe(503);
  });

  it("in mode leader, only the leader is ready", async () => {
    const address = await start({ readyMode: "leader" });
    expect((await sendRequest(address, "/readyz")).status).toBe(503);
    election.win({ token: 7n, lastsMs: 9_000 });
    expect((await sendRequest(address, "/readyz")).status).toBe(200);
    election.setRemaining(0);
    expect((await sendRequest(address, "/readyz")).status).toBe(503);
  });

  it("in mode child-ready, only the leader is ready, and only while its child is", async () => {
    let ready = false;
    const source = { election, child: () => ({ ready }) };
    const address = await start({ readyMode: "child-ready", source });
    election.win({ token: 7n, lastsMs: 9_000 });
    expect((await sendRequest(address, "/readyz")).status).toBe(503);
    ready = true;
    expect((await sendRequest(address, "/readyz")).status).toBe(200);
    election.end();
    expect((await sendRequest(address, "/readyz")).status).toBe(503);
  });
});

describe("POST /step-down", () => {
  it("is rejected over TCP without a token, and the response says what to do", async () => {
    election.win({ token: 7n, lastsMs: 9_000 });
    const { status, body } = await sendRequest(await start(), "/step-down", { method: "POST" });
    expect(status).toBe(403);
    expect(body).toContain("Start the status server with --status-token-file, or with --status unix:PATH");
    expect(fixture.stepDowns).toBe(0);
  });

  it("accepts only the current token, which may rotate", async () => {
    let token = "first\n";
    const address = await start({ token: async () => token });
    election.win({ token: 7n, lastsMs: 9_000 });
    const post = async (given?: string) => {
      const headers: Record<string, string> = given === undefined ? {} : { authorization: given };
      return sendRequest(address, "/step-down", { method: "POST", headers });
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
    expect(fixture.stepDowns).toBe(2);
    token = "";
    expect((await post("Bearer ")).status).toBe(401);
  });

  it("is rejected if the token cannot be read", async () => {
    election.win({ token: 7n, lastsMs: 9_000 });
    const address = await start({ token: () => Promise.reject(new Error("ENOENT")) });
    const headers = { authorization: "Bearer x" };
    expect((await sendRequest(address, "/step-down", { method: "POST", headers })).status).toBe(500);
    expect(fixture.stepDowns).toBe(0);
  });

  it("needs no token on a unix socket, and is rejected if this replica is not the leader", async () => {
    const address = await start({ listen: `unix:${join(fixture.folder, "s")}` });
    expect((await sendRequest(address, "/step-down", { method: "POST" })).status).toBe(409);
    election.win({ token: 7n, lastsMs: 9_000 });
    expect((await sendRequest(address, "/step-down", { method: "POST" })).status).toBe(202);
    expect(fixture.stepDowns).toBe(1);
  });
});

describe("methods and paths", () => {
  it.each(["/", "/leader", "/healthz", "/readyz", "/events"])(
    "HEAD %s responds like GET without a body",
    async (path) => {
      const address = await start();
      const head = await sendRequest(address, path, { method: "HEAD" });
      expect([head.status, head.body]).toEqual([200, ""]);
      if (path !== "/events") {
        expect(head.headers["content-length"]).toBe(
          (await sendRequest(address, path)).headers["content-length"],
        );
      }
    },
  );

  it.each([
    ["POST", "/leader", "GET, HEAD"],
    ["DELETE", "/healthz", "GET, HEAD"],
    ["GET", "/step-down", "POST"],
    ["HEAD", "/step-down", "POST"],
    ["POST", "/events", "GET, HEAD"],
  ])("%s %s responds 405 with the allowed methods", async (method, path, allow) => {
    const answer = await sendRequest(await start(), path, { method });
    expect([answer.status, answer.headers.allow]).toEqual([405, allow]);
  });

  it.each(["/nothing", "//leader", "/leader/", "/constructor", "/__proto__"])(
    "%s responds 404 with the known paths",
    async (path) => {
      const { status, body } = await sendRequest(await start(), path);
      expect(status).toBe(404);
      expect(body).toContain("Known paths: /, /leader, /events, /healthz, /readyz, /metrics, /step-down");
    },
  );

  it("/metrics responds 404 without metrics, otherwise with their content type", async () => {
    expect((await sendRequest(await start(), "/metrics")).status).toBe(404);
    await fixture.server?.close();
    const metrics = { contentType: "text/x", render: async () => "up 1\n" };
    expect(await sendRequest(await start({ metrics }), "/metrics")).toMatchObject({
      status: 200,
      body: "up 1\n",
      headers: { "content-type": "text/x" },
    });
  });

  it("responds 500 with the error message, and serves the next request", async () => {
    const metrics = { contentType: "text/x", render: () => Promise.reject(new Error("no figures")) };
    const address = await start({ metrics });
    expect(await sendRequest(address, "/metrics")).toMatchObject({ status: 500, body: "no figures\n" });
    expect((await sendRequest(address, "/healthz")).status).toBe(200);
  });

  it("ignores the body of a request", async () => {
    const answer = await sendRequest(await start(), "/leader", {
      headers: { "content-length": "100000" },
      body: "x".repeat(100_000),
    });
    expect([answer.status, answer.headers.connection]).toEqual([200, "close"]);
  });
});
