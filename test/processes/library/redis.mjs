// @ts-check
/** A Redis server for BullMQ, if there is one on this machine: in PATH, or named by TENURE_REDIS. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { freePorts } from "../../kube/ports.mjs";

const command = process.env.TENURE_REDIS ?? "redis-server";

/** Why there is no Redis; undefined if there is one. */
export const noRedis =
  spawnSync(command, ["--version"]).status === 0
    ? undefined
    : `${command} does not run: install it (apt-get install redis-server), or set TENURE_REDIS to its path`;

/** @returns {Promise<{ port: number, stop: () => Promise<void> }>} */
export async function startRedis() {
  const [port = 0] = await freePorts(1);
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  await new Promise((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      if (String(chunk).includes("Ready to accept connections")) resolve(undefined);
    });
    exited.then(() => reject(new Error("Redis ended before it was ready")));
  });
  return {
    port,
    async stop() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
