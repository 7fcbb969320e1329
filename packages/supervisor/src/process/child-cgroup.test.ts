/** With real control groups where this machine allows it, and with folders that look like some where it does not. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { randomId } from "../platform.ts";
import { endManagers, names, newManager, sleeper } from "../testing/managers.ts";
import { mentioning, sleepers, until } from "../testing/processes.ts";
import { childCgroup } from "./child-cgroup.ts";

afterEach(endManagers);

/** The folder of the group, if this machine allows one. */
async function probe(): Promise<string | undefined> {
  const marker = randomId();
  const cgroup = childCgroup(marker);
  const child = spawn("sleep", ["1000"]);
  await cgroup.add(child.pid ?? 0, () => []);
  const isUsable = cgroup.members().includes(child.pid ?? 0);
  cgroup.kill();
  await once(child, "exit");
  cgroup.remove();
  return isUsable ? marker : undefined;
}
const canUse = (await probe()) !== undefined;
if (!canUse) console.warn("no control group can be written here: skipping the tests with real ones");

describe.runIf(canUse)("a control group", () => {
  const folder = mkdtempSync(join(tmpdir(), "tenure-test-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Starts a daemon that cannot be found in any other way: no marker, another session, no parent. */
  const hidden = (go: string, sleep: string) =>
    `until [ -e ${go} ]; do sleep 0.01; done; env -i setsid sh -c 'setsid ${sleep} & exit 0'; echo up; exec sleep 1000`;

  async function startHidden(cgroup: typeof childCgroup | undefined) {
    const { manager, shell, marker } = newManager({}, cgroup);
    const go = join(folder, marker);
    const { process: child, pid } = await manager.start(shell(hidden(go, sleeper())));
    if (cgroup) await until(() => childCgroup(marker).members().includes(pid));
    writeFileSync(go, "");
    await new Promise((resolve) => child.stdout?.once("data", resolve));
    await until(() => sleepers(names[0] ?? "").length === 1);
    return { manager, marker };
  }

  it("contains a daemon that cannot be found in any other way, kills it, and is removed", async () => {
    const { manager, marker } = await startHidden(childCgroup);
    expect(childCgroup(marker).members().length).toBeGreaterThan(1);
    await manager.stop(500);
    expect([mentioning(names[0] ?? ""), childCgroup(marker).members()]).toEqual([[], []]);
    expect(
      ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].filter((mount) =>
        existsSync(join(mount, `tenure-${marker}`)),
      ),
    ).toEqual([]);
  });

  it("is what finds that daemon", async () => {
    const { manager } = await startHidden(undefined);
    await manager.stop(500);
    const [left = 0] = sleepers(names.splice(0)[0] ?? "");
    expect(left).toBeGreaterThan(0);
    process.kill(left, "SIGKILL");
  });

  it("is removed even if the child exits before it has entered it", async () => {
    const { manager, shell, marker } = newManager({}, childCgroup);
    await manager.start(shell("exit 0"));
    await manager.wait();
    const isThere = () =>
      ["", "unified"].some((mount) => existsSync(join("/sys/fs/cgroup", mount, `tenure-${marker}`)));
    await until(() => !isThere());
  });
});

describe("where there is no control group to write to", () => {
  const folder = mkdtempSync(join(tmpdir(), "tenure-test-"));
  const membership = join(folder, "membership");
  const mount = join(folder, "mount");

  it.each<[string, () => void]>([
    ["no control groups", () => rmSync(membership, { force: true })],
    ["only those of version 1", () => writeFileSync(membership, "4:memory:/x\n1:cpu:/x\n")],
    [
      "a file system that is not one",
      () => {
        writeFileSync(membership, "0::/own\n");
        mkdirSync(join(mount, "own"), { recursive: true });
        writeFileSync(join(mount, "cgroup.controllers"), "");
      },
    ],
  ])("nothing happens: %s", async (_, prepare) => {
    prepare();
    const cgroup = childCgroup("mark", { mounts: [mount], membership });
    await cgroup.add(process.pid, () => []);
    cgroup.kill();
    cgroup.remove();
    expect(cgroup.members()).toEqual([]);
    expect(existsSync(join(mount, "own", "tenure-mark"))).toBe(false);
  });
});
