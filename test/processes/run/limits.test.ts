/** As whom the child of the built command runs, and how many files it may open. */
import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { type Replica, startTenure } from "./replicas.ts";
import { newWorld } from "./world.ts";

const world = newWorld();
let count = 0;

function start(script: string, flags: readonly string[] = [], prefix: readonly string[] = []): Replica {
  const where = ["--kubeconfig", world.kubeconfig, "--lease-lock-name", `limits-${++count}`, "--id", "a"];
  return startTenure(["run", ...where, ...flags, "--", "sh", "-c", `${script}; exec sleep 1000`], {}, prefix);
}

async function printed(replica: Replica, lines: number): Promise<string[]> {
  await expect.poll(() => replica.printed.length, { timeout: 15_000 }).toBe(lines);
  replica.kill("SIGTERM");
  expect(await replica.exit).toEqual({ code: 0, signal: null, survivors: [] });
  return replica.printed;
}

const hasPrlimit = spawnSync("prlimit", ["--version"]).status === 0;
/** A shell with a lower soft limit, which starts tenure as its child. */
const lower = ["sh", "-c", 'ulimit -Sn 1000; "$@" & trap "kill -TERM $!" TERM; wait; wait', "sh"];

describe.runIf(hasPrlimit)("the soft limit of open files", { timeout: 30_000 }, () => {
  it("is that of the process that started tenure, although Node raises its own", async () => {
    expect(await printed(start("ulimit -Sn", [], lower), 1)).toEqual(["1000"]);
  });

  it("is what --rlimit says", async () => {
    expect(await printed(start("ulimit -Sn", ["--rlimit", "nofile=900"]), 1)).toEqual(["900"]);
  });
});

describe.runIf(process.getuid?.() === 0)("--user", { timeout: 30_000 }, () => {
  it("the child runs as that user, can read its deadline file and open its output, and is stopped", async () => {
    const script =
      'id -u; id -g; echo "$HOME"; cat "$TENURE_DEADLINE_FILE" > /dev/null && echo read; echo opened > /dev/stdout';
    const replica = start(script, ["--user", "nobody", "--log-prefix", ""]);
    const [, , uid, gid, , home] = passwdOf("nobody");
    expect(await printed(replica, 5)).toEqual([uid, gid, home, "read", "opened"]);
  });

  it("a child that ignores SIGTERM is killed", async () => {
    const replica = start("trap '' TERM; echo up", ["--user", "4711:4711", "--stop-timeout", "1s"]);
    await replica.hasPrinted("up");
    replica.kill("SIGTERM");
    expect(await replica.exit).toEqual({ code: 1, signal: null, survivors: [] });
  });

  it("is refused without the rights for it", async ({ skip }) => {
    const unprivileged = ["setpriv", "--reuid", "4711", "--regid", "4711", "--clear-groups"];
    const [, ...identity] = unprivileged;
    skip(spawnSync("setpriv", [...identity, "true"]).status !== 0, "setpriv is not installed, or may not");
    // A folder of mktemp belongs to root alone.
    const isReadable = spawnSync("setpriv", [...identity, "test", "-r", import.meta.filename]).status === 0;
    skip(!isReadable, "another user may not read this folder");
    const replica = start("true", ["--user", "nobody"], unprivileged);
    expect((await replica.exit).code).toBe(2);
    expect(replica.stderrLines.join("\n")).toContain("--user requires that tenure runs as root");
  });
});

function passwdOf(name: string): string[] {
  return spawnSync("getent", ["passwd", name], { encoding: "utf8" }).stdout.trim().split(":");
}
