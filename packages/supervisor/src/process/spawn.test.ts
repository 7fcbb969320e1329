/** With real processes. Another user needs root, which containers and CI have. */
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { startProgram } from "./spawn.ts";

const isRoot = process.getuid?.() === 0;
const user = { uid: 4_711, gid: 4_712 };
const program = {
  command: "sh",
  args: ["-c", "id -u; id -g; id -G"],
  env: { PATH: process.env.PATH },
  cwd: undefined,
};

async function outputOf(options: object): Promise<string> {
  const { child } = startProgram({ ...program, ...options }, ["ignore", "pipe", "inherit"]);
  const text = child.stdout?.setEncoding("utf8").toArray() as Promise<string[]>;
  await once(child, "exit");
  return (await text).join("");
}

describe("a program", () => {
  it.runIf(isRoot)("runs as the user and the group, without any other group", async () => {
    expect(await outputOf({ user })).toBe("4711\n4712\n4712\n");
  });

  it("runs as the user of this process by default", async () => {
    expect(await outputOf({})).toMatch(new RegExp(`^${process.getuid?.()}\n${process.getgid?.()}\n`));
  });

  it.runIf(isRoot)("that the user may not execute is reported with the user", async () => {
    const { spawned } = startProgram({ ...program, command: "/etc/shadow", user }, "ignore");
    await expect(spawned).rejects.toThrow('Cannot start "/etc/shadow": it is not executable for user 4711.');
  });
});
