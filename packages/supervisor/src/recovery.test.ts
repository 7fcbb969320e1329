/** What the supervisor does about children that do not start, crash, or fall ill (B4, B7). */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { parseReady } from "./check/parse.ts";
import { alive, uniqueSeconds, until } from "./testing/real.ts";
import { endRigs, newLeader, newRig } from "./testing/rig.ts";

afterEach(endRigs);

const forever = "while :; do sleep 0.05; done";
const folder = mkdtempSync(join(tmpdir(), "tenure-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("ready", () => {
  const file = join(folder, "ready");
  writeFileSync(file, "of an earlier start");
  const node = (code: string) => ({
    command: process.execPath,
    args: ["-e", `${code}; setInterval(() => {}, 1000)`],
  });

  it.each([
    ["fd:3", { args: ["-c", `sleep 0.3; echo >&3; ${forever}`] }],
    ["fd:7", { args: ["-c", `sleep 0.3; printf 'x\\n' >&7; ${forever}`] }],
    ["ipc", node("setTimeout(() => process.send('ready'), 300)")],
    ["log:^serv.ng$", { args: ["-c", `echo not serving; sleep 0.3; echo serving >&2; ${forever}`] }],
    [`file:${file}`, { args: ["-c", `sleep 0.3; echo again > ${file}; ${forever}`] }],
    [
      `exec:test -e ${join(folder, "exec")}`,
      { args: ["-c", `sleep 0.3; touch ${join(folder, "exec")}; ${forever}`] },
    ],
  ])("%s", async (text, options) => {
    const rig = newRig("", { ready: parseReady(text), ...options });
    rig.election.win();
    await rig.ready();
    const ready = rig.children.find(({ type }) => type === "ready");
    expect(ready).toMatchObject({ tookMs: expect.any(Number) });
    // Not before it said so.
    expect((ready as { tookMs: number }).tookMs).toBeGreaterThan(250);
    expect(rig.phases).toEqual(["pre-leader", "leader"]);
  });

  it("http: when the server answers", async () => {
    const code = `const http = require("http"); let n = 0; const s = http.createServer((q, r) => { r.statusCode = n++ < 2 ? 503 : 200; r.end() });
      s.listen(${18_000 + (process.pid % 10_000)}, "127.0.0.1")`;
    const rig = newRig("", {
      ready: parseReady(`http://127.0.0.1:${18_000 + (process.pid % 10_000)}/ready`),
      ...node(code),
    });
    rig.election.win();
    await rig.ready();
  });

  it("a child that is not ready in time is stopped, and leadership given up with a cool-down", async () => {
    const name = uniqueSeconds();
    const rig = newRig(`sleep ${name}`, {
      ready: { kind: "file", path: file },
      startTimeoutMs: 300,
      cooldownMs: 7_000,
    });
    rig.election.win();
    await until(() => rig.phases.includes("follower"));
    expect(rig.phases).toEqual(["pre-leader", "follower"]);
    expect(alive(name)).toEqual([]);
    expect(rig.children.at(-1)).toMatchObject({
      type: "gave-up",
      cooldownMs: 7_000,
      why: expect.stringMatching(
        /not ready within 300 ms: .* was there before the start and has not changed/,
      ),
    });
    await until(() => rig.election.log.includes("released"));
    expect(rig.election.log).toEqual(["step down 7s", "released"]);
  });

  it.each([
    ["that ends before it is ready", { args: ["-c", "exit 0"], ready: { kind: "ipc" } as const }],
    ["that is not there", { command: "/no/such/program" }],
    ["that cannot be run", { command: "/etc/passwd" }],
  ])("a child %s likewise", async (_, options) => {
    const rig = newRig("", options);
    rig.election.win();
    await until(() => rig.election.log.includes("released"));
    expect(rig.phases).toEqual(["pre-leader", "follower"]);
    expect(rig.election.log[0]).toBe("step down 30s");
  });
});

describe("a child that ends by itself", () => {
  it("is restarted at once, then later, then leadership is given up", async () => {
    const rig = await newLeader("exit 4", { maxRestarts: 2 });
    await until(() => rig.election.log.includes("released"));
    expect(rig.children.filter(({ type }) => type === "restarting")).toMatchObject([
      { delayMs: 0, restarts: 1, why: "the child ended with exit code 4" },
      { delayMs: 1_000, restarts: 2 },
    ]);
    expect(rig.children.filter(({ type }) => type === "started")).toHaveLength(3);
    expect(rig.children.at(-1)).toMatchObject({
      type: "gave-up",
      why: expect.stringMatching(/restarted 2 times in 10m/),
    });
    expect(rig.phases).toEqual(["pre-leader", "leader", "pre-follower", "follower"]);
    expect(rig.election.log).toEqual(["step down 30s", "released"]);
    expect(rig.supervisor.status().child).toMatchObject({ restarts: 2, lastExit: { code: 4 } });
  });

  it("takes what it left behind with it before the next is started", async () => {
    const name = uniqueSeconds();
    const rig = await newLeader(
      `[ -e ${folder}/${name} ] && exec sh -c '${forever}'; touch ${folder}/${name}; setsid sleep ${name} & sleep 0.2; exit 1`,
    );
    await until(() => rig.children.some((event) => event.type === "started" && event.restarts === 1));
    expect(alive(`sleep ${name}`)).toEqual([]);
  });

  it("release: leadership is released", async () => {
    const rig = await newLeader("exit 0", { onExit: "release" });
    await until(() => rig.election.log.includes("released"));
    expect(rig.election.log).toEqual(["released"]);
    expect(rig.phases).toEqual(["pre-leader", "leader", "pre-follower", "follower"]);
  });

  it.each([
    ["exit 0", { exitCode: 0, childExit: { code: 0, signal: undefined } }],
    ["exit 42", { exitCode: 42, childExit: { code: 42, signal: undefined } }],
    ["kill -KILL $$", { exitCode: 137, childExit: { code: undefined, signal: "SIGKILL" } }],
    ["sleep 0.2 & exit 3", { exitCode: 3 }],
  ])("exit: the run ends with its exit code after the release: %s", async (script, outcome) => {
    const rig = await newLeader(script, { onExit: "exit" });
    expect(await rig.outcome).toMatchObject(outcome);
    expect(rig.election.log).toEqual(["released", "run over"]);
    expect(rig.phases.at(-1)).toBe("terminating");
  });

  it("exit: a program that is not there ends the run as a shell would", async () => {
    const rig = newRig("", { command: "/no/such/program", onExit: "exit" });
    rig.election.win();
    expect(await rig.outcome).toMatchObject({
      exitCode: 127,
      message: expect.stringMatching(/no such program/),
    });
  });

  it("exit: a child that was stopped by a loss is no end of the run", async () => {
    const rig = await newLeader(forever, { onExit: "exit" });
    rig.election.term?.lose(5_000);
    await until(() => rig.election.log.includes("not released"));
    rig.election.win();
    await rig.ready(2);
  });
});

describe("health", () => {
  it("a child that fails three checks in a row is stopped and started again", async () => {
    const sick = join(folder, uniqueSeconds());
    const rig = await newLeader(`trap 'echo stopping; exit 0' TERM; rm -f ${sick}; echo up; ${forever}`, {
      ready: { kind: "log", pattern: /up/ },
      health: { check: { kind: "exec", argv: ["test", "!", "-e", sick] }, periodMs: 30, timeoutMs: 5_000 },
    });
    await until(() => rig.supervisor.status().child.healthy === true);
    writeFileSync(sick, "");
    await rig.ready(2);
    expect(rig.health.map(({ healthy, failures }) => [healthy, failures]).slice(0, 4)).toEqual([
      [true, 0],
      [true, 1],
      [true, 2],
      [false, 3],
    ]);
    expect(rig.text()).toContain("stopping");
    expect(rig.children.find(({ type }) => type === "restarting")).toMatchObject({
      why: expect.stringMatching(/the child is unhealthy: exec:.*exit code 1/),
    });
    expect(rig.phases).toEqual(["pre-leader", "leader"]);
    await until(() => rig.supervisor.status().child.healthy === true);
  });

  it("one that stays unhealthy costs the leadership", async () => {
    const rig = await newLeader(forever, {
      health: { check: { kind: "exec", argv: ["false"] }, periodMs: 20, timeoutMs: 5_000, threshold: 2 },
      maxRestarts: 1,
    });
    await until(() => rig.election.log.includes("released"));
    expect(rig.election.log).toEqual(["step down 30s", "released"]);
    expect(rig.children.filter(({ type }) => type === "started")).toHaveLength(2);
  });

  it("a check that hangs does not outlive the term", async () => {
    const name = uniqueSeconds();
    const rig = await newLeader(forever, {
      health: {
        check: { kind: "exec", argv: ["sh", "-c", `setsid sleep ${name}`] },
        periodMs: 50,
        timeoutMs: 60_000,
      },
    });
    await until(() => alive(name).length > 0);
    rig.shutdown.abort();
    await rig.outcome;
    expect(alive(name)).toEqual([]);
  });
});
