// @ts-check
/** Three API servers, `tenure sandbox --store`, on an etcd with three members. Servers and members are killed and frozen. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePorts } from "../kube/ports.mjs";
import { answersOk } from "../kube/ready.mjs";
import { startEtcd } from "../stores/etcd.mjs";
import { newServers } from "../stores/servers.mjs";
import { nowMs } from "./history/history.mjs";
import { ObjectLoad } from "./objects/load.mjs";

/** @typedef {import("./targets.mjs").Context} Context */

const count = 3;
const program = fileURLToPath(new URL("../../packages/cli/bin/tenure.cjs", import.meta.url));
/** Long enough for requests to reach their own time-outs. */
const withoutMajorityMs = 15_000;

const wait = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @returns {Promise<import("./targets.mjs").Target>} */
export async function startEtcdServers() {
  const etcd = await startEtcd({ members: count });
  const processes = await newServers();
  const store = `etcd://${etcd.endpoints.map((url) => new URL(url).host).join(",")}`;
  const ports = await freePorts(count);
  const servers = ports.map((port) => newApiServer(port));

  /** @param {number} port */
  function newApiServer(port) {
    const kubeconfig = join(processes.folder, `kubeconfig-${port}`);
    const url = `https://127.0.0.1:${port}`;
    /** @type {import("../kube/process.mjs").ServerProcess | undefined} */
    let process_;
    return {
      url,
      kubeconfig,
      pid: () => process_?.pid ?? 0,
      async start() {
        const args = [
          program,
          "sandbox",
          "--port",
          String(port),
          "--kubeconfig-out",
          kubeconfig,
          "--store",
          store,
        ];
        const probe = async () => {
          const config = await readFile(kubeconfig, "utf8");
          const ca = /certificate-authority-data: "?([^"\s]+)/.exec(config)?.[1] ?? "";
          return answersOk(`${url}/readyz`, { ca: Buffer.from(ca, "base64").toString() });
        };
        const command = process.execPath;
        process_ = await processes.run({ name: `sandbox-${port}`, command, args, probe });
      },
      stop: async () => process_?.end("SIGKILL"),
    };
  }

  const stop = async () => {
    await processes.stop();
    await etcd.stop();
  };
  try {
    // The first one creates the certificate authority that all use.
    for (const server of servers) await server.start();
  } catch (error) {
    await stop();
    throw error;
  }

  /** @template T @param {T[]} items @param {Context} context @returns {T} */
  const oneOf = (items, { random }) => /** @type {T} */ (items[Math.floor(random() * items.length)]);
  /** @param {Context} context @param {string} server @param {() => Promise<void>} during */
  const outage = async ({ history }, server, during) => {
    const fromMs = nowMs();
    try {
      await during();
    } finally {
      history.append({ kind: "object-outage", server, fromMs, toMs: nowMs() });
    }
  };
  const freezeMember = async (/** @type {Context} */ context) => {
    const pid = oneOf(etcd.members, context).pid();
    process.kill(pid, "SIGSTOP");
    await wait(context.random() * 3 * context.leaseMs);
    process.kill(pid, "SIGCONT");
  };
  const killMember = async (/** @type {Context} */ context) => {
    const member = oneOf(etcd.members, context);
    await member.stop("SIGKILL");
    await wait(context.random() * 2 * context.leaseMs);
    await member.start();
  };
  const freezeServer = async (/** @type {Context} */ context) => {
    const server = oneOf(servers, context);
    await outage(context, server.url, async () => {
      process.kill(server.pid(), "SIGSTOP");
      await wait(context.random() * 3 * context.leaseMs);
      process.kill(server.pid(), "SIGCONT");
    });
  };
  const killServer = async (/** @type {Context} */ context) => {
    const server = oneOf(servers, context);
    await outage(context, server.url, async () => {
      await server.stop();
      await wait(context.random() * context.leaseMs);
      await server.start();
    });
  };
  const kubeconfig = await readFile(/** @type {string} */ (servers[0]?.kubeconfig), "utf8");
  return {
    server: /** @type {string} */ (servers[0]?.url),
    kubeconfig,
    addresses: ports.map((port) => ({ host: "127.0.0.1", port })),
    startLoad: (history) => new ObjectLoad({ servers: servers.map(({ url }) => url), kubeconfig, history }),
    faults: {
      "kill one API server": killServer,
      "freeze one API server": freezeServer,
      "kill one member": killMember,
      "freeze one member": freezeMember,
      "freeze a member and an API server": async (context) => {
        await Promise.all([freezeMember(context), freezeServer(context)]);
      },
      "kill the majority": async (context) => {
        const [first, second] = etcd.members.toSorted(() => context.random() - 0.5);
        if (!first || !second) return;
        await Promise.all([first.stop("SIGKILL"), second.stop("SIGKILL")]);
        const fromMs = nowMs();
        await wait(context.random() * withoutMajorityMs);
        const toMs = nowMs();
        await first.start();
        context.history.append({ kind: "object-majority", fromMs, toMs, backMs: nowMs() });
        await wait(context.random() * context.leaseMs);
        await second.start();
      },
    },
    stop,
  };
}
