/** `tenure run --shards` and `--permits`: real replicas with a real child for each shard. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Replica, shortLease, startTenure } from "./replicas.ts";
import { newWorld } from "./world.ts";

const world = newWorld();
let count = 0;

/**
 * Each child writes its pid into a file of its shard, and records it if the process that wrote it before still lives. A child that is
 * asked to stop removes the file. A process that was killed and that nobody has waited for yet (a zombie) does not live.
 */
function newRun(flag: "--shards" | "--permits", number: number) {
  const name = `shared-${++count}`;
  const file = join(world.folder, name);
  const index = flag === "--shards" ? "$TENURE_SHARD" : "$TENURE_PERMIT";
  const child = `
    before=$(cat ${file}-${index} 2>/dev/null) && grep -q '^State:.[^ZX]' /proc/$before/status 2>/dev/null &&
      echo "two work on ${index}" >> ${file}
    echo $$ > ${file}-${index}
    echo "start $TENURE_IDENTITY ${index} $TENURE_TOKEN $TENURE_SHARD_COUNT $TENURE_SHARD_RANGE" >> ${file}
    trap 'rm ${file}-${index}; echo "stop $TENURE_IDENTITY ${index}" >> ${file}; exit 0' TERM
    while :; do sleep 0.05; done`;
  const start = (id: string, flags: readonly string[] = []): Replica =>
    startTenure([
      ...["run", "--kubeconfig", world.kubeconfig, "--lease-lock-name", name, "--id", id],
      ...[flag, String(number), ...flags, "--", "sh", "-c", child],
    ]);
  const lines = () => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []);
  /** Who works on what, by the last line about each. */
  const owners = () => {
    const owned = new Map<string, string>();
    for (const [what, who, which = ""] of lines().map((line) => line.split(" "))) {
      if (what === "start") owned.set(which, who ?? "");
      if (what === "stop" && owned.get(which) === who) owned.delete(which);
    }
    return [...owned.values()].sort().join("");
  };
  const starts = () => lines().filter((line) => line.startsWith("start"));
  return { start, lines, owners, starts };
}

describe("tenure run", { timeout: 60_000 }, () => {
  it("--shards runs a child for each shard, and shares them with other replicas", async () => {
    const { start, lines, owners, starts } = newRun("--shards", 4);
    const a = start("a");
    await expect.poll(owners, { timeout: 20_000 }).toBe("aaaa");
    const ranges = starts().map((line) => line.split(" ").slice(4).join(" "));
    expect(ranges).toContain("4 0xc000000000000000-0x10000000000000000");
    const b = start("b");
    await expect.poll(owners, { timeout: 20_000 }).toBe("aabb");
    a.kill("SIGTERM");
    expect(await a.exit).toEqual({ code: 0, signal: null, survivors: [] });
    await expect.poll(owners, { timeout: 20_000 }).toBe("bbbb");
    b.kill("SIGTERM");
    expect(await b.exit).toEqual({ code: 0, signal: null, survivors: [] });
    expect(owners()).toBe("");
    expect(lines().filter((line) => line.startsWith("two"))).toEqual([]);
  });

  it("--shards takes over the shards of a replica that was killed, after its children are dead", async () => {
    const { start, lines, owners, starts } = newRun("--shards", 2);
    const a = start("a", shortLease);
    await expect.poll(owners, { timeout: 20_000 }).toBe("aa");
    const b = start("b", shortLease);
    await expect.poll(owners, { timeout: 20_000 }).toBe("ab");
    a.kill("SIGKILL");
    await expect
      .poll(() => starts().filter((line) => line.startsWith("start b")).length >= 2, { timeout: 20_000 })
      .toBe(true);
    const tokens = starts().map((line) => line.split(" "));
    for (const shard of ["0", "1"]) {
      const ofShard = tokens.filter((words) => words[2] === shard).map((words) => Number(words[3]));
      expect([...ofShard].sort((one, other) => one - other)).toEqual(ofShard);
    }
    b.kill("SIGTERM");
    expect((await b.exit).survivors).toEqual([]);
    expect(lines().filter((line) => line.startsWith("two"))).toEqual([]);
  });

  it("--permits runs as many children as there are permits", async () => {
    const { start, lines, owners } = newRun("--permits", 2);
    const replicas = ["a", "b", "c"].map((id) => start(id));
    await expect.poll(() => owners().length, { timeout: 20_000 }).toBe(2);
    const waiting = ["a", "b", "c"].find((id) => !owners().includes(id)) as string;
    const first = owners()[0] as string;
    replicas["abc".indexOf(first)]?.kill("SIGTERM");
    await expect.poll(() => owners().includes(waiting), { timeout: 20_000 }).toBe(true);
    for (const replica of replicas) replica.kill("SIGTERM");
    for (const replica of replicas) expect((await replica.exit).code).toBe(0);
    expect(lines().filter((line) => line.startsWith("two"))).toEqual([]);
  });

  it("--shards with a flag for one leader is rejected", async () => {
    const { start } = newRun("--shards", 2);
    const replica = start("a", ["--warm"]);
    expect((await replica.exit).code).toBe(2);
    expect(replica.stderrLines.join("\n")).toContain("--shards cannot be combined with --warm");
  });
});
