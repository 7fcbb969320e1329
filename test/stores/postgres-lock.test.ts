/** The contract of a lock, on a real PostgreSQL server and with the least rights. */
import { PostgresLock } from "@tenure/postgres";
import { afterAll, beforeAll, describe } from "vitest";
import { describeElections } from "../conformance/elections-contract.ts";
import { describeLock } from "../conformance/lock-contract.ts";
import { type PostgresCluster, startPostgres } from "./postgres.mjs";

let cluster: PostgresCluster;
let count = 0;

beforeAll(async () => {
  cluster = await startPostgres();
});
afterAll(() => cluster?.stop());

describe("PostgresLock", () => describeLock(newPlace));
describe("elections on PostgreSQL", () => describeElections(newPlace));

async function newPlace() {
  const name = `election-${++count}`;
  const { primary } = cluster;
  const sql = (text: string, ...values: unknown[]) => primary.sql(text, [name, ...values]);
  return {
    objects: 1,
    connect: () => new PostgresLock({ name, url: primary.candidateUrl }),
    touch: () => sql("UPDATE tenure_locks SET annotations = annotations WHERE name = $1"),
    annotate: (annotations: Readonly<Record<string, string | null>>) =>
      sql(
        "UPDATE tenure_locks SET annotations = jsonb_strip_nulls(annotations || $2) WHERE name = $1",
        annotations,
      ),
    annotations: async () =>
      (await sql("SELECT annotations FROM tenure_locks WHERE name = $1")).map((row) => row.annotations),
    transitions: async () => {
      const [row] = await sql("SELECT record FROM tenure_locks WHERE name = $1");
      return String(row?.record.leaseTransitions);
    },
    remove: () => sql("DELETE FROM tenure_locks WHERE name = $1"),
  };
}
