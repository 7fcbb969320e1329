/** What a candidate reports when something is wrong with PostgreSQL: one sentence each, with the way out. */
import { PostgresLock } from "@tenure/postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { record } from "../conformance/locks-target.ts";
import { freePorts } from "../kube/ports.mjs";
import { type PostgresCluster, startPostgres } from "./postgres.mjs";

let cluster: PostgresCluster;
const { signal } = new AbortController();

beforeAll(async () => {
  cluster = await startPostgres();
});
afterAll(() => cluster?.stop());

async function failureOf(url: string, table?: string) {
  const lock = new PostgresLock({ name: "x", url, ...(table && { table }) });
  const answer = await lock.write(record("a"), undefined, signal);
  if (answer.kind !== "failed") throw new Error(`it did not fail: ${answer.kind}`);
  expect(answer.failure.message).not.toContain("secret");
  return { kind: answer.failure.kind, message: answer.failure.message };
}

it("a wrong password", async () => {
  const { port, candidateUrl } = cluster.primary;
  expect(await failureOf(candidateUrl.replace("secret", "wrong"))).toEqual({
    kind: "denied",
    message:
      `Cannot write the lock x in postgres 127.0.0.1:${port}/app: password authentication failed for user "candidate". ` +
      "Check user and password: in the URL, PGUSER and PGPASSWORD, or PGPASSFILE",
  });
});

it("missing rights", async () => {
  await cluster.primary.sql("CREATE ROLE stranger LOGIN");
  const url = cluster.primary.url.replace("admin@", "stranger@");
  expect(await failureOf(url)).toMatchObject({
    kind: "denied",
    message: expect.stringMatching(
      /permission denied for table tenure_locks. Run as the owner: tenure postgres schema --table tenure_locks --role stranger \| psql$/,
    ),
  });
});

it("a missing table, and a schema that does not exist", async () => {
  for (const table of ["not_there", "nor.here"]) {
    expect(await failureOf(cluster.primary.url, table)).toMatchObject({
      kind: "server",
      message: expect.stringContaining(
        `there is no table ${table}. Create it: tenure postgres schema --table ${table} | psql`,
      ),
    });
  }
});

it("a table of something else", async () => {
  await cluster.primary.sql("CREATE TABLE other (name text PRIMARY KEY)");
  expect((await failureOf(cluster.primary.url, "other")).message).toContain(
    "the table other has other columns",
  );
});

it("a database that does not exist", async () => {
  const { message } = await failureOf(cluster.primary.url.replace(/app$/, "nowhere"));
  expect(message).toContain(
    'database "nowhere" does not exist. Create the database, or correct its name in the URL',
  );
});

it("a server that does not answer", async () => {
  const [port] = await freePorts(1);
  expect(await failureOf(`postgres://admin@127.0.0.1:${port}/app`)).toMatchObject({
    kind: "unreachable",
    message: expect.stringContaining("ECONNREFUSED"),
  });
});

it("a standby, for a read too", async () => {
  const standby = await cluster.addStandby();
  const expected = {
    kind: "server",
    message: expect.stringContaining("the server is read-only, probably a standby. Connect to the primary"),
  };
  expect(await failureOf(standby.url)).toMatchObject(expected);
  const lock = new PostgresLock({ name: "x", url: standby.url });
  expect(await lock.read(signal)).toMatchObject({ kind: "failed", failure: expected });
  // With both in the URL, the primary is found.
  const both = `postgres://admin@127.0.0.1:${standby.port},127.0.0.1:${cluster.primary.port}/app`;
  const found = new PostgresLock({ name: "both", url: both });
  expect(await found.write(record("a"), undefined, signal)).toMatchObject({ kind: "found" });
});
