/** An acknowledged write must not be lost. PostgreSQL has several ways to lose one. */
import { PostgresLock } from "@tenure/postgres";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually, record, viewIn } from "../conformance/locks-target.ts";
import { type PostgresCluster, type PostgresServer, startPostgres } from "./postgres.mjs";

let cluster: PostgresCluster;
let primary: PostgresServer;
let standby: PostgresServer;
const { signal } = new AbortController();

beforeAll(async () => {
  cluster = await startPostgres();
  ({ primary } = cluster);
  standby = await cluster.addStandby();
});
afterAll(() => cluster?.stop());

/** Waits until a session waits for the standby, and returns its process. */
async function waitingBackend(): Promise<number> {
  let pid = 0;
  await eventually(async () => {
    const rows = await primary.sql("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
    pid = rows[0]?.pid ?? 0;
    return pid !== 0;
  }, "a commit waits for the standby");
  return pid;
}

it("a write waits for the standby even if the role switched that off", async () => {
  await primary.sql("ALTER ROLE candidate SET synchronous_commit = off");
  const lock = new PostgresLock({ name: "switched-off", url: primary.candidateUrl });
  const { view } = (await lock.write(record("a"), undefined, signal)) as never;
  await standby.stop();
  try {
    const client = new pg.Client(primary.candidateUrl);
    await client.connect();
    expect((await client.query("SHOW synchronous_commit")).rows).toEqual([{ synchronous_commit: "off" }]);
    await client.end();
    const limit = new AbortController();
    const writing = lock.write(record("a", 1), view, limit.signal);
    await waitingBackend();
    limit.abort();
    expect(await writing).toMatchObject({ kind: "failed", failure: { kind: "timeout" } });
  } finally {
    await standby.start();
    await primary.sql("ALTER ROLE candidate RESET synchronous_commit");
  }
});

it("a commit whose wait for the standby was cancelled does not count, neither by answer nor by watch nor by read", async () => {
  const lock = new PostgresLock({ name: "cancelled", url: primary.candidateUrl });
  const before = viewIn(await lock.write(record("a"), undefined, signal));
  const seen: string[] = [];
  const ending = new AbortController();
  let isUp = false;
  lock.watch(
    {
      observed: ({ record: { renewTime } }) => seen.push(String(renewTime)),
      deleted: () => {},
      changed: () => seen.push("changed"),
      up: () => {
        isUp = true;
      },
      down: () => {},
    },
    ending.signal,
  );
  await eventually(() => isUp, "the watch is up");
  await standby.stop();
  try {
    const writing = lock.write(record("a", 7), before, signal);
    await primary.sql("SELECT pg_cancel_backend($1)", [await waitingBackend()]);
    expect(await writing).toMatchObject({
      kind: "failed",
      failure: { message: expect.stringContaining("without waiting for its synchronous standbys") },
    });
    // Others see it, but a failover to the standby would undo it.
    const other = new PostgresLock({ name: "cancelled", url: primary.candidateUrl });
    expect(viewIn(await other.read(signal)).record).toEqual(record("a", 7));
    await eventually(() => seen.includes("changed"), "the watch asks for a read");
    expect(seen).not.toContain(record("a", 7).renewTime);
    const limit = new AbortController();
    const reading = lock.read(limit.signal);
    await waitingBackend();
    limit.abort();
    expect(await reading).toMatchObject({ kind: "failed" });
  } finally {
    await standby.start();
  }
  // The standby has it now.
  expect(viewIn(await lock.read(signal)).record).toEqual(record("a", 7));
  ending.abort();
});

it("a row that is created while another of the same name is deleted gets a higher revision", async () => {
  const lock = new PostgresLock({ name: "again", url: primary.candidateUrl });
  const before = viewIn(await lock.write(record("a"), undefined, signal));
  const operator = new pg.Client(primary.url);
  await operator.connect();
  await operator.query("BEGIN");
  await operator.query("DELETE FROM tenure_locks WHERE name = 'again'");
  // Waits for the end of the deletion.
  const creating = new PostgresLock({ name: "again", url: primary.candidateUrl }).write(
    record("b"),
    undefined,
    signal,
  );
  await eventually(
    async () =>
      (await primary.sql("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'transactionid'")).length > 0,
    "the creation waits",
  );
  // Revisions that are given out meanwhile.
  const elsewhere = new PostgresLock({ name: "elsewhere", url: primary.candidateUrl });
  const last = viewIn(await elsewhere.write(record("c"), undefined, signal));
  await operator.query("COMMIT");
  await operator.end();
  const after = viewIn(await creating);
  expect(after.uid).not.toBe(before.uid);
  expect(after.revision).toBeGreaterThan(last.revision);
});
