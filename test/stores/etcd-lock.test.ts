/** The contract of a lock, on a real etcd with three members. */
import { EtcdLock } from "@tenure/etcd";
import { afterAll, beforeAll, describe } from "vitest";
import { describeElections } from "../conformance/elections-contract.ts";
import { describeLock } from "../conformance/lock-contract.ts";
import { type EtcdCluster, startEtcd } from "./etcd.mjs";

let cluster: EtcdCluster;
let count = 0;

beforeAll(async () => {
  cluster = await startEtcd({ members: 3 });
});
afterAll(() => cluster?.stop());

describe("EtcdLock", () => describeLock(newPlace));
describe("elections on etcd", () => describeElections(newPlace));

async function newPlace() {
  const name = `election-${++count}`;
  const key = Buffer.from(`/tenure/${name}`).toString("base64");
  const stored = async () => {
    const { kvs = [] } = await cluster.call("/v3/kv/range", { key });
    return JSON.parse(Buffer.from(kvs[0]?.value ?? "bnVsbA==", "base64").toString());
  };
  const put = (value: object) =>
    cluster.call("/v3/kv/put", { key, value: Buffer.from(JSON.stringify(value)).toString("base64") });
  // A candidate may renew between the read and the write of this annotation, so both are one transaction.
  const annotate = async (annotations: Readonly<Record<string, string | null>>): Promise<unknown> => {
    const { kvs = [] } = await cluster.call("/v3/kv/range", { key });
    const before = JSON.parse(Buffer.from(kvs[0].value, "base64").toString());
    const merged = Object.entries({ ...before.annotations, ...annotations }).filter(
      ([, value]) => value !== null,
    );
    const after = { ...before, annotations: Object.fromEntries(merged) };
    const { succeeded } = await cluster.call("/v3/kv/txn", {
      compare: [{ key, target: "MOD", mod_revision: kvs[0].mod_revision }],
      success: [{ request_put: { key, value: Buffer.from(JSON.stringify(after)).toString("base64") } }],
    });
    return succeeded ? undefined : annotate(annotations);
  };
  return {
    objects: 1,
    connect: () => new EtcdLock({ name, endpoints: cluster.endpoints }),
    touch: async () => put({ ...(await stored()), theirs: 1 }),
    annotate,
    annotations: async () => [(await stored()).annotations],
    transitions: async () => String((await stored()).record.leaseTransitions),
    remove: () => cluster.call("/v3/kv/deleterange", { key }),
  };
}
