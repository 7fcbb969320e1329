// @ts-check
/** The stores to test on: PostgreSQL, and an etcd with three members. */
import pg from "pg";
import { startEtcd } from "../stores/etcd.mjs";
import { startPostgres } from "../stores/postgres.mjs";

const wait = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @type {Record<string, () => Promise<import("./targets.mjs").Target>>} */
export const storeTargets = {
  postgres: async () => {
    const cluster = await startPostgres();
    const { primary } = cluster;
    return {
      server: `http://127.0.0.1:${primary.port}`,
      kubeconfig: "",
      addresses: [{ host: "127.0.0.1", port: primary.port }],
      lockUrl: (port) => `postgres://candidate:secret@127.0.0.1:${port}/app`,
      deleteLock: (name) => ask(primary.url, "DELETE FROM tenure_locks WHERE name = $1", [name]),
      faults: {
        "restart the server": async ({ random, leaseMs }) => {
          await primary.stop(random() < 0.5 ? "SIGINT" : "SIGQUIT");
          await wait(random() * leaseMs);
          await primary.start();
        },
        "terminate the connections": () =>
          ask(
            primary.url,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'candidate'",
            [],
          ),
        "block the row": async ({ random, leaseMs }) => {
          const client = new pg.Client(primary.url);
          client.on("error", () => {});
          await client.connect();
          await client.query("BEGIN; UPDATE tenure_locks SET annotations = annotations");
          await wait(random() * 2 * leaseMs);
          await client.query(random() < 0.5 ? "COMMIT" : "ROLLBACK");
          await client.end();
        },
      },
      stop: () => cluster.stop(),
    };
  },
  etcd: async () => {
    const cluster = await startEtcd({ members: 3 });
    /** @param {() => number} random */
    const oneOf = (random) =>
      /** @type {import("../stores/etcd.mjs").EtcdMember} */ (cluster.members[Math.floor(random() * 3)]);
    return {
      server: /** @type {string} */ (cluster.endpoints[0]),
      kubeconfig: "",
      addresses: cluster.endpoints.map((url) => ({ host: "127.0.0.1", port: Number(new URL(url).port) })),
      lockUrl: (port) => `etcd://127.0.0.1:${port}`,
      deleteLock: (name) =>
        cluster.call("/v3/kv/deleterange", { key: Buffer.from(`/tenure/${name}`).toString("base64") }),
      faults: {
        "kill one member": async ({ random, leaseMs }) => {
          const member = oneOf(random);
          await member.stop("SIGKILL");
          await wait(random() * 2 * leaseMs);
          await member.start();
        },
        "freeze one member": async ({ random, leaseMs }) => {
          const pid = oneOf(random).pid();
          process.kill(pid, "SIGSTOP");
          await wait(random() * 3 * leaseMs);
          process.kill(pid, "SIGCONT");
        },
        "kill the majority": async ({ random, leaseMs }) => {
          const members = cluster.members.slice(0, 2);
          await Promise.all(members.map((member) => member.stop("SIGKILL")));
          await wait(random() * 2 * leaseMs);
          await Promise.all(members.map((member) => member.start()));
        },
      },
      stop: () => cluster.stop(),
    };
  },
};

/** @param {string} url @param {string} text @param {unknown[]} values */
async function ask(url, text, values) {
  const client = new pg.Client(url);
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query(text, values);
  } finally {
    await client.end();
  }
}
