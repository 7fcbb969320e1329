/** Elections on real PostgreSQL servers that restart, fail over, and drop connections. Two candidates never work at once. */
import { PostgresLock } from "@tenure/postgres";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../conformance/locks-target.ts";
import { leads, type Replica, Replicas } from "../conformance/replicas.ts";
import { type PostgresCluster, startPostgres } from "./postgres.mjs";

/** Short leases, so that a test can wait for several. */
const timings = { leaseDuration: "6s", renewDeadline: "4s", retryPeriod: "400ms", renewInterval: "300ms" };

let cluster: PostgresCluster;
let replicas: Replicas;
let url: string;
let listenUrl: string | undefined;
let count = 0;

beforeAll(async () => {
  cluster = await startPostgres();
});
afterAll(() => cluster?.stop());
beforeEach(() => {
  const name = `election-${++count}`;
  url = cluster.primary.candidateUrl;
  listenUrl = undefined;
  replicas = new Replicas(() => new PostgresLock({ name, url, ...(listenUrl && { listenUrl }) }));
});
afterEach(() => replicas.stop());

/** Starts three candidates and waits until the first leads and the others know. */
async function startThree(): Promise<readonly [Replica, Replica, Replica]> {
  const first = replicas.start("a", timings);
  await leads(first);
  const [second, third] = [replicas.start("b", timings), replicas.start("c", timings)];
  await eventually(
    () => [second, third].every(({ election }) => election.leader === "a"),
    "the others know who leads",
  );
  return [first, second, third];
}

const tokens = () => replicas.all.flatMap((replica) => replica.tokens).sort((x, y) => (x < y ? -1 : 1));

/** Waits until the leader has renewed after this call, whoever it is. */
async function renewal(): Promise<void> {
  let renewals = 0;
  for (const { election } of replicas.all) election.on("renewed", () => renewals++);
  await eventually(() => renewals >= 2 && replicas.leaders.length === 1, "a leader renews");
}

it("a leader whose connections are terminated goes on with the same term", async () => {
  const [first] = await startThree();
  for (let round = 0; round < 5; round++) {
    await cluster.primary.sql(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'candidate'",
    );
    await renewal();
  }
  expect(first.tokens).toHaveLength(1);
  expect(replicas.leaders).toEqual(["a"]);
});

it.each([
  ["a restart", "SIGINT"],
  ["a crash", "SIGQUIT"],
] as const)("%s of the server does not cost leadership", async (_, signal) => {
  const [first] = await startThree();
  await cluster.primary.stop(signal);
  await cluster.primary.start();
  await renewal();
  expect(first.tokens).toHaveLength(1);
  expect(replicas.leaders).toEqual(["a"]);
});

it("the term ends in time if the server stays away, and a new one has a higher token", async () => {
  const [first] = await startThree();
  await cluster.primary.stop("SIGQUIT");
  await eventually(() => replicas.leaders.length === 0, "nobody works");
  expect(first.ended).toEqual(["renew-deadline"]);
  await cluster.primary.start();
  await eventually(() => replicas.leaders.length === 1, "somebody works again");
  expect(new Set(tokens()).size).toBe(2);
});

describe("through PgBouncer in transaction mode", () => {
  let bouncer: string;
  beforeAll(async () => {
    bouncer = await cluster.addBouncer(cluster.primary);
  });

  it("the candidates notice that notifications do not arrive, say so, and poll", async () => {
    url = bouncer;
    const [first, second, third] = await startThree();
    await eventually(() => second.errors.length > 0, "the error is reported");
    expect(second.errors[0]).toContain(
      "notifications do not arrive, probably because of a pooler in transaction mode. The lock is read every retryPeriod instead",
    );
    await first.stop();
    await eventually(() => replicas.leaders.length === 1, "another one leads");
    expect([second, third].flatMap(({ tokens }) => tokens)).toHaveLength(1);
    expect(first.errors.length + second.errors.length + third.errors.length).toBeLessThanOrEqual(3);
  });

  it("with listenUrl they need not poll", async () => {
    url = bouncer;
    listenUrl = cluster.primary.candidateUrl;
    const [first, second, third] = await startThree();
    await first.stop();
    await eventually(() => replicas.leaders.length === 1, "another one leads");
    expect([first, second, third].flatMap(({ errors }) => errors)).toEqual([]);
  });
});

// The last test: afterwards the first server is gone.
it("a failover to a synchronous standby keeps the order of tokens", async () => {
  const standby = await cluster.addStandby();
  url = `postgres://candidate:secret@127.0.0.1:${cluster.primary.port},127.0.0.1:${standby.port}/app`;
  await startThree();
  await cluster.primary.stop("SIGKILL");
  await standby.promote();
  await eventually(() => replicas.leaders.length === 1, "somebody leads");
  await renewal();
  const leader = replicas.all.find(({ election }) => election.identity === replicas.leaders[0]) as Replica;
  const before = tokens();
  leader.election.stepDown({ cooldown: "20s" });
  await eventually(
    () => tokens().length > before.length && replicas.leaders.length === 1,
    "the next one leads",
  );
  expect(tokens().at(-1)).toBeGreaterThan(before.at(-1) as bigint);
  expect(new Set(tokens()).size).toBe(tokens().length);
});
