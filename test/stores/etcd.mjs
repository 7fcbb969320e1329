// @ts-check
/** A real etcd cluster on the loopback interface, with any number of members. */
import { join } from "node:path";
import { cacheFolder, findAssets, findExecutable, folders, readPins } from "../kube/assets.mjs";
import { freePorts } from "../kube/ports.mjs";
import { answersOk } from "../kube/ready.mjs";
import { newServers } from "./servers.mjs";

/**
 * @typedef {object} EtcdMember
 * @property {string} url
 * @property {() => number} pid
 * @property {(signal?: NodeJS.Signals) => Promise<void>} stop
 * @property {() => Promise<void>} start
 *
 * @typedef {object} EtcdCluster
 * @property {EtcdMember[]} members
 * @property {string[]} endpoints
 * @property {string} folder
 * @property {(path: string, body: object, token?: string) => Promise<any>} call etcd's HTTP API, which the tests use as an
 *   administrator; keys and values are encoded in base64
 * @property {() => Promise<void>} stop
 */

/**
 * @param {{ members?: number, flags?: string[], scheme?: string }} [options]
 * @returns {Promise<EtcdCluster>}
 */
export async function startEtcd({ members: count = 1, flags = [], scheme = "http" } = {}) {
  const etcd = await findEtcd();
  const servers = await newServers();
  const ports = await freePorts(2 * count);
  const clientUrl = (/** @type {number} */ index) => `${scheme}://127.0.0.1:${ports[2 * index]}`;
  const peerUrl = (/** @type {number} */ index) => `http://127.0.0.1:${ports[2 * index + 1]}`;
  const indexes = Array.from({ length: count }, (_, index) => index);
  const initial = indexes.map((index) => `m${index}=${peerUrl(index)}`).join(",");
  const members = indexes.map((index) => newMember(index));

  /** @param {number} index @returns {EtcdMember} */
  function newMember(index) {
    /** @type {import("../kube/process.mjs").ServerProcess | undefined} */
    let process;
    return {
      url: clientUrl(index),
      pid: () => process?.pid ?? 0,
      async start() {
        const args = [
          `--name=m${index}`,
          `--data-dir=${join(servers.folder, `m${index}`)}`,
          `--listen-client-urls=${clientUrl(index)}`,
          `--advertise-client-urls=${clientUrl(index)}`,
          `--listen-peer-urls=${peerUrl(index)}`,
          `--initial-advertise-peer-urls=${peerUrl(index)}`,
          `--initial-cluster=${initial}`,
          "--heartbeat-interval=50",
          "--election-timeout=500",
          "--unsafe-no-fsync",
          ...flags,
        ];
        const probe = () =>
          scheme === "https" ? Promise.resolve(true) : answersOk(`${clientUrl(index)}/health`);
        process = await servers.run({ name: `m${index}`, command: etcd, args, probe });
      },
      async stop(signal = "SIGKILL") {
        await process?.end(signal);
      },
    };
  }

  try {
    await Promise.all(members.map((member) => member.start()));
  } catch (error) {
    await servers.stop();
    throw error;
  }
  return {
    members,
    endpoints: members.map(({ url }) => url),
    folder: servers.folder,
    async call(path, body, token) {
      const response = await fetch(`${clientUrl(0)}${path}`, {
        method: "POST",
        body: JSON.stringify(body),
        ...(token && { headers: { authorization: token } }),
      });
      const answer = await response.json();
      if (!response.ok) throw new Error(`POST ${path}: ${JSON.stringify(answer)}`);
      return answer;
    },
    stop: () => servers.stop(),
  };
}

/** etcd is built together with kube-apiserver, but does not need it. */
async function findEtcd() {
  const cache = cacheFolder(process.env, await readPins());
  const given = process.env.KUBEBUILDER_ASSETS;
  const found = await findExecutable("etcd", given ? [given] : [...folders(process.env), cache]);
  return found ?? (await findAssets()).etcd;
}
