// @ts-check
/** Replicas of one program as processes, which write to one file, and what can happen to them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, openSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { KubeClient, loadConfig } from "@tenure/kube";
import { startSandbox } from "@tenure/sandbox";
import { root } from "./idioms.mjs";
import { startRedis } from "./redis.mjs";
import { judge, parseLine } from "./witness.mjs";

/** @typedef {"stop" | "kill" | "freeze"} Fault */
/** @typedef {{ name: string, child: import("node:child_process").ChildProcess, exited: Promise<unknown[]> }} Replica */

const deadlineMs = 60_000;
const pollMs = 20;

export class Replicas {
  /** @type {Map<string, Replica>} */
  #live = new Map();
  #count = 0;
  /** @type {(() => Promise<unknown>)[]} */
  #cleanups = [];
  #folder = "";
  #program = "";
  #endsBySignal = false;
  /** @type {Record<string, string>} */
  #env = {};

  /** @param {import("./idioms.mjs").Idiom} idiom */
  static async start(idiom) {
    const replicas = new Replicas();
    try {
      await replicas.#prepare(idiom);
      for (let index = 0; index < 3; index += 1) replicas.#add();
      return replicas;
    } catch (error) {
      await replicas.stop();
      throw error;
    }
  }

  /** @param {import("./idioms.mjs").Idiom} idiom */
  async #prepare({ program, build, needsRedis, needsObjects, endsBySignal = false }) {
    this.#endsBySignal = endsBySignal;
    this.#program = build ? await build() : join(root, program);
    this.#folder = await mkdtemp(join(tmpdir(), "tenure-library-"));
    this.#cleanups.push(() => rm(this.#folder, { recursive: true, force: true }));
    const sandbox = await startSandbox();
    this.#cleanups.push(() => sandbox.close());
    const kubeconfig = join(this.#folder, "kubeconfig");
    await sandbox.writeKubeconfig(kubeconfig);
    this.#env = { KUBECONFIG: kubeconfig };
    if (needsRedis) {
      const redis = await startRedis();
      this.#cleanups.push(() => redis.stop());
      this.#env.REDIS_PORT = String(redis.port);
    }
    if (needsObjects) this.#changeObjects(kubeconfig);
    appendFileSync(this.#witness, "");
  }

  get #witness() {
    return join(this.#folder, "witness");
  }

  get lines() {
    return readFileSync(this.#witness, "utf8").trim().split("\n");
  }

  judge() {
    return judge(this.lines);
  }

  #add() {
    const name = `r${this.#count++}`;
    const output = openSync(this.#witness, "a");
    const args = ["--import", new URL("./timings.mjs", import.meta.url).href, this.#program, name];
    const env = { ...process.env, ...this.#env };
    const child = spawn(process.execPath, args, { cwd: root, env, stdio: ["ignore", output, "inherit"] });
    this.#live.set(name, { name, child, exited: once(child, "exit") });
  }

  /**
   * The replica that works. Rejects if none works within a minute.
   * @param {(name: string) => boolean} [accepts]
   */
  async working(accepts = () => true) {
    const from = this.lines.length;
    const untilMs = performance.now() + deadlineMs;
    while (performance.now() < untilMs) {
      for (const text of this.lines.slice(from)) {
        const line = parseLine(text);
        const replica = line && (line.what === "start" || line.what === "step") && this.#live.get(line.who);
        if (replica && accepts(replica.name)) return replica;
      }
      await sleep(pollMs);
    }
    throw new Error(`no other replica worked within ${deadlineMs} ms:\n${this.lines.slice(-20).join("\n")}`);
  }

  /**
   * Lets this happen to the replica that works, and waits until another one works. There are three replicas afterwards.
   * @param {Fault} fault
   */
  async disturb(fault) {
    const victim = await this.working();
    const { name, child, exited } = victim;
    if (fault === "freeze") {
      child.kill("SIGSTOP");
      appendFileSync(this.#witness, `- ${name} was frozen\n`);
      await this.working((other) => other !== name);
      child.kill("SIGCONT");
      // It either ends, because its work overran, or waits as a standby. Both is right.
      const ended = await Promise.race([exited.then(() => true), sleep(1_000, false)]);
      if (!ended) return;
      this.#live.delete(name);
    } else {
      this.#live.delete(name);
      child.kill(fault === "stop" ? "SIGTERM" : "SIGKILL");
      const [code, signal] = await exited;
      const isClean = code === 0 || (this.#endsBySignal && signal === "SIGTERM");
      if (fault === "stop" && !isClean) throw new Error(`${name} ended with ${code ?? signal} after SIGTERM`);
      if (fault === "kill") appendFileSync(this.#witness, `- ${name} was killed\n`);
    }
    this.#add();
    if (fault !== "freeze") await this.working();
  }

  async stop() {
    for (const { child } of this.#live.values()) child.kill("SIGKILL");
    await Promise.all([...this.#live.values()].map(({ exited }) => exited));
    for (const cleanup of this.#cleanups.reverse()) await cleanup();
  }

  /** @param {string} kubeconfig */
  #changeObjects(kubeconfig) {
    const client = new KubeClient(() => loadConfig({ kubeconfig }));
    let isOver = false;
    const path = "/api/v1/namespaces/default/configmaps";
    const change = async () => {
      for (let round = 0; !isOver; round += 1) {
        const name = `object-${round}`;
        const metadata = { name, labels: { count: "please" } };
        await client
          .request({ method: "POST", path, body: { metadata, data: { key: "value" } } })
          .catch(() => {});
        if (round >= 20)
          await client.request({ method: "DELETE", path: `${path}/object-${round - 20}` }).catch(() => {});
        await sleep(100);
      }
    };
    const changing = change();
    this.#cleanups.push(async () => {
      isOver = true;
      await changing;
      client.close();
    });
  }
}
