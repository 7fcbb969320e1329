/** The surroundings of the tests in a file: a sandbox, and a folder with its kubeconfig. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Sandbox, startSandbox } from "@tenure/sandbox";
import { afterAll, afterEach, beforeAll } from "vitest";
import { checkBuild } from "../election/replicas.ts";
import { checkRunBuild, endAll } from "./replicas.ts";

export class World {
  folder = "";
  kubeconfig = "";
  #sandbox: Sandbox | undefined;

  async open(): Promise<void> {
    checkBuild();
    checkRunBuild();
    this.#sandbox = await startSandbox();
    this.folder = await mkdtemp(join(tmpdir(), "tenure-run-"));
    this.kubeconfig = join(this.folder, "kubeconfig");
    await this.#sandbox.writeKubeconfig(this.kubeconfig);
  }

  async close(): Promise<void> {
    await this.#sandbox?.close();
    if (this.folder !== "") await rm(this.folder, { recursive: true, force: true });
  }
}

/** Opens before the first test and closes after the last. Ends after each test the processes that it started. */
export function newWorld(): World {
  const world = new World();
  beforeAll(() => world.open(), 60_000);
  afterEach(endAll);
  afterAll(() => world.close());
  return world;
}
