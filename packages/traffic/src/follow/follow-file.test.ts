import { existsSync } from "node:fs";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { VirtualClock } from "@tenure/base/virtual-clock";
import { afterEach, beforeEach, expect, it } from "vitest";
import { FollowLog } from "../testing/follow.ts";
import { followFile } from "./follow-file.ts";

let log: FollowLog;
beforeEach(async () => {
  log = await FollowLog.create();
});
afterEach(() => log.close());

const pollEachSecond = <T>(clock: VirtualClock, read: () => T) =>
  expect.poll(async () => {
    await clock.pass(1_000);
    return read();
  });

it("keeps the ready file while the file names this pod, also if it is replaced like a mounted ConfigMap", async () => {
  const clock = new VirtualClock();
  // Like the kubelet: ..data is a symbolic link that is replaced, and leader is a symbolic link into it.
  const put = async (version: string, text: string) => {
    await mkdir(join(log.folder, version));
    await writeFile(join(log.folder, version, "leader"), text);
    await symlink(version, join(log.folder, "..new"));
    await rename(join(log.folder, "..new"), join(log.folder, "..data"));
  };
  await put("..1", "b\n");
  await symlink("..data/leader", join(log.folder, "leader"));
  const following = followFile({ ...log.options(), path: join(log.folder, "leader"), clock });
  await expect.poll(() => log.changes).toEqual(["b"]);
  expect(existsSync(log.ready)).toBe(false);
  await put("..2", "a\n");
  await pollEachSecond(clock, () => log.changes).toEqual(["b", "a me"]);
  expect(existsSync(log.ready)).toBe(true);
  await put("..3", "");
  await pollEachSecond(clock, () => log.changes).toEqual(["b", "a me", "undefined"]);
  expect(existsSync(log.ready)).toBe(false);
  await put("..4", "a");
  await pollEachSecond(clock, () => existsSync(log.ready)).toBe(true);
  log.controller.abort();
  await following;
  expect(existsSync(log.ready)).toBe(false);
  expect(log.errors).toEqual([]);
});

it("treats a file that cannot be read as naming no pod, and reports it once", async () => {
  const clock = new VirtualClock();
  const path = join(log.folder, "leader");
  await writeFile(path, "a");
  const following = followFile({ ...log.options(), path, clock });
  await expect.poll(() => existsSync(log.ready)).toBe(true);
  await rm(path);
  await pollEachSecond(clock, () => log.changes).toEqual(["a me", "undefined"]);
  expect(existsSync(log.ready)).toBe(false);
  expect(log.errors).toHaveLength(1);
  expect(log.errors[0]).toContain(`Cannot read the name of the pod from ${path}: ENOENT`);
  log.controller.abort();
  await following;
});
