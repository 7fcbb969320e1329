/** A warm child, with a scripted election and real processes. */
import { afterEach, describe, expect, it } from "vitest";
import { until } from "./testing/processes.ts";
import { endRigs, newRig } from "./testing/rig.ts";

afterEach(endRigs);

describe("a warm child", () => {
  /** Prints what it is told, and confirms the end of its work unless it is told to ignore it. */
  const program = (confirm: string) =>
    `process.on("message", (message) => { console.log(JSON.stringify(message)); if (message.tenure === "end") { ${confirm} } });
     console.log("up"); setInterval(() => {}, 1_000);`;
  const options = (confirm: string) => ({
    command: process.execPath,
    args: ["-e", program(confirm)],
    ready: { kind: "log", pattern: /up/ } as const,
    warm: true,
  });

  it("runs before the term, is told of its beginning and its end, and is not started again", async () => {
    const rig = newRig("", options(`process.send("stopped")`));
    await rig.ready();
    expect(rig.phases).toEqual([]);
    const { pid } = rig.supervisor.status().child;
    rig.election.win();
    await until(() => rig.text().includes('{"tenure":"begin","token":"1"}'));
    expect(rig.phases).toEqual(["pre-leader", "leader"]);
    rig.supervisor.stepDown();
    await until(() => rig.election.log.includes("released"));
    expect(rig.text()).toContain('{"tenure":"end"}');
    rig.election.win();
    await until(() => rig.text().includes('{"tenure":"begin","token":"2"}'));
    expect(rig.supervisor.status().child).toMatchObject({ state: "running", pid });
    rig.shutdown.abort();
    expect(await rig.outcome).toEqual({ exitCode: 0, killed: false });
  });

  it("that does not confirm the end of its work is killed before the release, and started again", async () => {
    const rig = newRig("", { ...options(""), stopTimeoutMs: 100 });
    await rig.ready();
    rig.election.win();
    await until(() => rig.phases.includes("leader"));
    rig.supervisor.stepDown();
    await until(() => rig.election.log.includes("released"));
    expect(rig.children.findLast(({ type }) => type === "stopped")).toMatchObject({ killed: true });
    await rig.ready(2);
  });
});
