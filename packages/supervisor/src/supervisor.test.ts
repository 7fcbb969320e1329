/** Phases, order and exit codes of the supervisor, with a scripted election and real children. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ScriptedElection } from "@tenure/testkit";
import type { Gate } from "@tenure/traffic";
import { afterEach, describe, expect, it } from "vitest";
import { Supervisor } from "./supervisor.ts";

import { mentioning, uniqueSeconds, until } from "./testing/processes.ts";
import { endRigs, newLeader, newRig } from "./testing/rig.ts";

afterEach(endRigs);

const forever = "while :; do sleep 0.05; done";
const stubborn = `trap '' TERM; echo up; ${forever}`;

describe("a term", () => {
  it("starts the child, stops it at the end, and then releases the lease", async () => {
    const { election, phases, supervisor, children, shutdown, outcome } = await newLeader(forever);
    expect(phases).toEqual(["pre-leader", "leader"]);
    expect(supervisor.status()).toMatchObject({
      phase: "leader",
      child: { state: "running", ready: true, restarts: 0 },
    });
    election.stepDown();
    await until(() => phases.length === 4);
    expect(phases.slice(2)).toEqual(["pre-follower", "follower"]);
    expect(supervisor.status().child).toMatchObject({ state: "stopped", lastExit: { signal: "SIGTERM" } });
    expect(election.log).toEqual(["step down default", "released"]);
    expect(children.map(({ type }) => type)).toEqual(["started", "ready", "stopping", "exited", "stopped"]);
    shutdown.abort();
    expect(await outcome).toEqual({ exitCode: 0, killed: false });
  });

  it("that has not begun does not delay the end of the run", async () => {
    const { shutdown, outcome, phases } = newRig(forever);
    shutdown.abort();
    expect(await outcome).toEqual({ exitCode: 0, killed: false });
    expect(phases).toEqual(["terminating"]);
  });

  it("rejects a second run", async () => {
    const { supervisor } = newRig(forever);
    await expect(supervisor.run()).rejects.toMatchObject({ code: "AlreadyRunning" });
  });

  it("does not begin if the signal has already aborted", async () => {
    const supervisor = new Supervisor({ election: new ScriptedElection(), command: "true" });
    expect(await supervisor.run({ signal: AbortSignal.abort() })).toEqual({ exitCode: 0, killed: false });
  });
});

describe("the environment of the child", () => {
  it("has the identity, the election, the token and the deadline file", async () => {
    const rig = await newLeader(
      `echo "$TENURE_IDENTITY $TENURE_ELECTION $TENURE_TOKEN $OWN $HOME"; cat "$TENURE_DEADLINE_FILE"; echo "file $TENURE_DEADLINE_FILE"; ${forever}`,
      { env: { OWN: "own" } },
    );
    await until(() => rig.text().includes("file "));
    expect(rig.text()).toContain(`replica-a prod/billing 1 own ${process.env.HOME}\n`);
    const file = /file (.*)/.exec(rig.text())?.[1] ?? "";
    const read = () => JSON.parse(readFileSync(file, "utf8"));
    const first = read();
    expect(first.token).toBe("1");
    const inMs = Date.parse(first.deadline) - Date.now();
    expect(inMs).toBeGreaterThan(50_000);
    expect(inMs).toBeLessThan(60_000);
    rig.election.renew(120_000);
    await until(() => Date.parse(read().deadline) - Date.now() > 100_000);
    expect(read().monotonicMs).toBeGreaterThan(first.monotonicMs + 50_000);
    rig.shutdown.abort();
    await rig.outcome;
    expect(existsSync(file)).toBe(false);
  });
});

describe("a term that ends on purpose", () => {
  it("waits for the child to stop before it releases the lease", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tenure-test-"));
    const finish = `echo finishing; until [ -e ${folder}/go ]; do sleep 0.01; done; echo finished; exit 0`;
    const rig = await newLeader(`trap '${finish}' TERM; echo up; ${forever}`, {
      ready: { kind: "log", pattern: /up/ },
    });
    rig.shutdown.abort();
    await until(() => rig.text().includes("finishing"));
    expect(rig.supervisor.status().child.state).toBe("stopping");
    expect(rig.election.log).toEqual([]);
    writeFileSync(join(folder, "go"), "");
    expect(await rig.outcome).toEqual({ exitCode: 0, killed: false });
    rmSync(folder, { recursive: true });
    expect(rig.text()).toContain("finished");
    expect(rig.phases).toEqual(["pre-leader", "leader", "terminating"]);
    expect(rig.election.log).toEqual(["released", "run over"]);
  });

  it("kills a child that does not stop, and the run ends with exit code 1", async () => {
    const rig = await newLeader(stubborn, { ready: { kind: "log", pattern: /up/ }, stopTimeoutMs: 200 });
    rig.shutdown.abort();
    expect(await rig.outcome).toMatchObject({
      exitCode: 1,
      killed: true,
      message: expect.stringMatching(/killed/),
    });
  });

  it("kills the child on hurry, but only while it is being stopped", async () => {
    const rig = await newLeader(stubborn, { ready: { kind: "log", pattern: /up/ }, stopTimeoutMs: 600_000 });
    rig.supervisor.hurry();
    expect(rig.supervisor.status().child.state).toBe("running");
    rig.shutdown.abort();
    await until(() => rig.supervisor.status().child.state === "stopping");
    rig.supervisor.hurry();
    expect(await rig.outcome).toMatchObject({ exitCode: 1, killed: true });
  });

  it("stops a child that is not ready yet", async () => {
    const name = uniqueSeconds();
    const rig = newRig(`sleep ${name}`, { ready: { kind: "ipc" } });
    rig.election.win();
    await until(() => rig.supervisor.status().child.state === "running");
    rig.shutdown.abort();
    expect(await rig.outcome).toEqual({ exitCode: 0, killed: false });
    expect(mentioning(name)).toEqual([]);
    expect(rig.phases).toEqual(["pre-leader", "terminating"]);
  });
});

describe("a term that ends by loss", () => {
  it("does not kill a child that stops in time", async () => {
    const rig = await newLeader(`trap 'echo finished; exit 0' TERM; echo up; ${forever}`, {
      ready: { kind: "log", pattern: /up/ },
    });
    rig.election.lose(5_000);
    await rig.stopped();
    expect(rig.children.at(-1)).toMatchObject({ type: "stopped", killed: false });
  });

  it("kills the child at once when the term has expired", async () => {
    const rig = await newLeader(`trap 'echo SIGTERM; exit 0' TERM; echo up; ${forever}`, {
      ready: { kind: "log", pattern: /up/ },
    });
    rig.election.expire();
    await rig.stopped();
    expect(rig.text()).not.toContain("SIGTERM");
    expect(rig.children.at(-1)).toMatchObject({ type: "stopped", killed: true });
  });

  it("starts no child if the term ran out while this process was frozen", async () => {
    const rig = newRig(forever);
    await until(() => rig.supervisor.status().watchdog.running);
    rig.election.win({ lastsMs: 0 });
    await until(() => rig.election.log.length > 0);
    expect(rig.children).toEqual([]);
  });
});

describe("gates", () => {
  function newGate(log: string[], name = "label"): Gate {
    return {
      name,
      open: async () => void log.push("open"),
      renewed: () => void log.push("renewed"),
      close: async () => void log.push("close"),
    };
  }

  it("open when the child is ready, and close after it stopped and before the release", async () => {
    const log: string[] = [];
    const rig = await newLeader(`trap 'exit 0' TERM; echo up; ${forever}`, {
      ready: { kind: "log", pattern: /up/ },
      gates: [newGate(log)],
    });
    rig.supervisor.on("child", ({ type }) => void (type === "stopped" && log.push("stopped")));
    const push = rig.election.log.push.bind(rig.election.log);
    rig.election.log.push = (text) => push(text) + log.push(text);
    await until(() => log.length === 1);
    rig.election.renew();
    rig.shutdown.abort();
    await rig.outcome;
    expect(log).toEqual(["open", "renewed", "stopped", "close", "released", "run over"]);
  });
});

it("forwards signals to the child, and ignores them without a child", async () => {
  const rig = newRig(
    `trap 'echo usr1' USR1; trap 'echo hup' HUP; trap 'echo usr2' USR2; echo up; ${forever}`,
    {
      ready: { kind: "log", pattern: /up/ },
    },
  );
  rig.supervisor.forward("SIGHUP");
  await until(() => rig.supervisor.status().watchdog.running);
  rig.election.win();
  await rig.ready();
  for (const [signal, word] of [
    ["SIGHUP", "hup"],
    ["SIGUSR1", "usr1"],
    ["SIGUSR2", "usr2"],
  ] as const) {
    rig.supervisor.forward(signal);
    await until(() => rig.text().includes(word));
  }
});

it("reports all problems with its options at once", () => {
  const make = () =>
    new Supervisor({
      election: new ScriptedElection(),
      command: "",
      stopTimeoutMs: 0,
      maxRestarts: 1.5,
      onExit: "again" as "exit",
      health: { check: { kind: "tcp", host: "a", port: 1 }, threshold: 0, periodMs: Number.NaN },
    });
  expect(make).toThrow(/command.*onExit.*stopTimeoutMs.*health.periodMs.*maxRestarts.*health.threshold/s);
});
