/** Elections on a real etcd whose members crash, freeze, and lose their majority. Two candidates never work at once. */
import { EtcdLock } from "@tenure/etcd";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { eventually } from "../conformance/locks-target.ts";
import { leads, type Replica, Replicas } from "../conformance/replicas.ts";
import { type EtcdCluster, startEtcd } from "./etcd.mjs";

/** Short leases, so that a test can wait for several. */
const timings = { leaseDuration: "8s", renewDeadline: "6s", retryPeriod: "400ms", renewInterval: "300ms" };

let cluster: EtcdCluster;
let replicas: Replicas;
let count = 0;

beforeAll(async () => {
  cluster = await startEtcd({ members: 3 });
});
afterAll(() => cluster?.stop());
beforeEach(() => {
  const name = `election-${++count}`;
  replicas = new Replicas(() => new EtcdLock({ name, endpoints: cluster.endpoints }));
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

/** Waits until the leader has renewed after this call, whoever it is. */
async function renewal(): Promise<void> {
  let renewals = 0;
  for (const { election } of replicas.all) election.on("renewed", () => renewals++);
  await eventually(() => renewals >= 2 && replicas.leaders.length === 1, "a leader renews");
}

it("each member in turn can crash, and the leader goes on with the same term", async () => {
  const [first] = await startThree();
  for (const member of cluster.members) {
    await member.stop("SIGKILL");
    await renewal();
    await member.start();
  }
  expect(first.tokens).toHaveLength(1);
  expect(replicas.leaders).toEqual(["a"]);
});

it("each member in turn can freeze, and the leader goes on with the same term", async () => {
  const [first] = await startThree();
  for (const member of cluster.members) {
    process.kill(member.pid(), "SIGSTOP");
    try {
      await renewal();
    } finally {
      process.kill(member.pid(), "SIGCONT");
    }
  }
  expect(first.tokens).toHaveLength(1);
  expect(replicas.leaders).toEqual(["a"]);
});

it("without a majority the term ends in time, an error says why, and a higher token follows", async () => {
  const [first, second] = await startThree();
  const [member, ...others] = cluster.members;
  await Promise.all(others.map((other) => other.stop("SIGKILL")));
  await eventually(() => replicas.leaders.length === 0, "nobody works");
  expect(first.ended).toEqual(["renew-deadline"]);
  await eventually(
    () =>
      second.errors.some((error) =>
        /no leader. A majority of the members of etcd must be running/.test(error),
      ),
    "the error names the cause",
  );
  await Promise.all(others.map((other) => other.start()));
  await eventually(() => replicas.leaders.length === 1, "somebody works again");
  const tokens = replicas.all.flatMap((replica) => replica.tokens);
  expect(new Set(tokens).size).toBe(2);
  expect(member?.pid()).toBeGreaterThan(0);
});
