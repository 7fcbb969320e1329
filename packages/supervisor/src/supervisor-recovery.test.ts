/** How the supervisor reacts to children that do not become ready, exit by themselves or fail their health checks. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { parseReady } from "./check/parse.ts";
import { isRunning, mentioning, sleepers, uniqueSeconds, until } from "./testing/processes.ts";
import { endRigs, newLeader, newRig } from "./testing/rig.ts";

afterEach(endRigs);

const forever = "while :; do sleep 0.05; done";
const folder = mkdtempSync(join(tmpdir(), "tenure-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("a child is ready by", () => {
  const file = join(folder, "ready");
  writeFileSync(file, "of an earlier start");
  /** A shell that waits for the file $GO before it runs the command. */
  const shell = (command: string) => ({
    args: ["-c", `echo not serving; until [ -e "$GO" ]; do sleep 0.01; done; ${command}; ${forever}`],
  });
  const node = {
    command: process.execPath,
    args: [
      "-e",
      `console.log("not serving");
      setInterval(() => require("fs").existsSync(process.env.GO) && process.send("ready"), 10)`,
    ],
  };

  it.each([
    ["fd:3", shell("echo >&3")],
    ["ipc", node],
    ["log:^serv.ng$", shell("echo serving >&2")],
    [`file:${file}`, shell(`echo again > ${file}`)],
    [`exec:test -e ${join(folder, "exec")}`, shell(`touch ${join(folder, "exec")}`)],
  ])("%s", async (text, options) => {
    const go = join(folder, uniqueSeconds());
    const rig = newRig("", { ready: parseReady(text), env: { GO: go }, ...options });
    rig.election.win();
    await until(() => rig.text().includes("not serving"));
    expect(rig.children.map(({ type }) => type)).toEqual(["started"]);
    writeFileSync(go, "");
    await rig.ready();
    expect(rig.children.at(-1)).toMatchObject({ type: "ready", tookMs: expect.any(Number) });
    expect(rig.phases).toEqual(["pre-leader", "leader"]);
  });

  it("http, when the server answers", async () => {
    let answers = 0;
    const server = createServer((_, response) => response.writeHead(answers++ < 2 ? 503 : 200).end());
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const rig = newRig(forever, { ready: parseReady(`http://127.0.0.1:${port}/ready`) });
    rig.election.win();
    await rig.ready();
    server.close();
    expect(answers).toBe(3);
  });
});

describe("a child that does not become ready", () => {
  it("in time is stopped, and the replica gives up leadership with a cool-down", async () => {
    const file = join(folder, uniqueSeconds());
    writeFileSync(file, "of an earlier start");
    const name = uniqueSeconds();
    const rig = newRig(`sleep ${name}`, {
      ready: { kind: "file", path: file },
      startTimeoutMs: 300,
      cooldownMs: 7_000,
    });
    rig.election.win();
    await until(() => rig.phases.includes("follower"));
    expect(rig.phases).toEqual(["pre-leader", "follower"]);
    expect(mentioning(name)).toEqual([]);
    expect(rig.children.at(-1)).toMatchObject({
      type: "gave-up",
      cooldownMs: 7_000,
      why: expect.stringMatching(/not ready within 300 ms: .* existed before the start and has not changed/),
    });
    await until(() => rig.election.log.includes("released"));
    expect(rig.election.log).toEqual(["step down 7s", "released"]);
  });

  it.each([
    ["exits", { args: ["-c", "exit 0"], ready: { kind: "ipc" } as const }],
    ["does not exist", { command: "/no/such/program" }],
  ])("because it %s makes the replica give up leadership", async (_, options) => {
    const rig = newRig("", options);
    rig.election.win();
    await until(() => rig.election.log.includes("released"));
    expect(rig.phases).toEqual(["pre-leader", "follower"]);
    expect(rig.election.log[0]).toBe("step down 30s");
  });
});

describe("a child that exits by itself", () => {
  it("leaves no process behind when the next child is started", async () => {
    const file = join(folder, uniqueSeconds());
    const leaveBehind = `setsid sh -c 'echo $$ > ${file}; exec sleep 1000' & until [ -s ${file} ]; do sleep 0.01; done`;
    const rig = newRig(`[ -e ${file} ] || { ${leaveBehind}; exit 1; }; ${forever}`);
    let wasRunning: boolean | undefined;
    rig.supervisor.on("child", (event) => {
      if (event.type !== "started" || event.restarts !== 1) return;
      wasRunning = isRunning(Number(readFileSync(file, "utf8")));
    });
    rig.election.win();
    await until(() => wasRunning !== undefined);
    expect(wasRunning).toBe(false);
  });

  it.each([
    ["exit 42", { exitCode: 42, childExit: { code: 42, signal: undefined } }],
    ["kill -KILL $$", { exitCode: 137, childExit: { code: undefined, signal: "SIGKILL" } }],
    ["sleep 0.2 & exit 3", { exitCode: 3 }],
  ])(
    "with onExit exit: the lease is released and the run ends with the exit code of: %s",
    async (script, outcome) => {
      const rig = await newLeader(script, { onExit: "exit" });
      expect(await rig.outcome).toMatchObject(outcome);
      expect(rig.election.log).toEqual(["released", "run over"]);
      expect(rig.phases.at(-1)).toBe("terminating");
    },
  );

  it("with onExit exit: a program that does not exist ends the run with the exit code of a shell", async () => {
    const rig = newRig("", { command: "/no/such/program", onExit: "exit" });
    rig.election.win();
    expect(await rig.outcome).toMatchObject({
      exitCode: 127,
      message: expect.stringMatching(/no such program/),
    });
  });

  it("with onExit exit: a child that is stopped because of a loss does not end the run", async () => {
    const rig = await newLeader(forever, { onExit: "exit" });
    rig.election.lose(5_000);
    await until(() => rig.election.log.includes("not released"));
    rig.election.win();
    await rig.ready(2);
  });
});

describe("a child with a health check", () => {
  it("is restarted after three failures in a row", async () => {
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

  it("leaves no check behind when the term ends", async () => {
    const name = uniqueSeconds();
    const rig = await newLeader(forever, {
      health: {
        check: { kind: "exec", argv: ["sh", "-c", `setsid sleep ${name}`] },
        periodMs: 50,
        timeoutMs: 60_000,
      },
    });
    await until(() => sleepers(name).length > 0);
    rig.shutdown.abort();
    await rig.outcome;
    expect(mentioning(name)).toEqual([]);
  });
});
