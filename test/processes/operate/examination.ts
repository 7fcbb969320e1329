/** Runs `tenure doctor` and the commands that it prints as processes, and sorts its reports. */
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { dump, load, loadAll } from "js-yaml";
import { expect } from "vitest";
import { record, start, type TestCluster } from "./commands.ts";
import {
  type ApiObject,
  accountObjects,
  create,
  election,
  healthy,
  pathOf,
  settle,
  type World,
} from "./healthy.ts";

export interface Check {
  readonly check: string;
  readonly verdict: string;
  readonly about?: string;
  readonly what: string;
  readonly fix?: string;
  readonly command?: string;
}

export interface Where {
  /** Null for the whole namespace. */
  readonly name?: string | null;
  readonly namespace: string;
  readonly kubeconfig: string;
  readonly flags?: readonly string[];
}

export async function examine({ name = election, namespace, kubeconfig, flags = [] }: Where) {
  const args = ["doctor", ...(name === null ? [] : [name]), "-n", namespace, "-o", "json", ...flags];
  const { code, out, err } = await start([...args, "--kubeconfig", kubeconfig]).ran;
  expect(err).toBe("");
  const { checks } = JSON.parse(out) as { checks: Check[] };
  const of = (verdict: string) => checks.filter((check) => check.verdict === verdict);
  return { code, out, findings: of("finding"), hints: of("hint"), skipped: of("skipped"), checks };
}

/** Runs a command as a user would, with nothing in the environment that names a cluster. The sandbox runs in this process. */
export function run(command: string, input = ""): Promise<void> {
  const env = { PATH: process.env.PATH ?? "", HOME: "/nonexistent" };
  return new Promise((resolve, reject) => {
    const child = execFile("sh", ["-c", command], { env, timeout: 20_000 }, (error, _out, err) => {
      if (error) reject(new Error(`${command}: ${err || error.message}`));
      else resolve();
    });
    child.stdin?.end(input);
  });
}

let count = 0;

/** A new namespace with this fault. */
export async function planted(
  cluster: TestCluster,
  plant: (world: World) => void = () => {},
): Promise<World> {
  const world = healthy(cluster, `doctor-${++count}-${process.pid}`);
  plant(world);
  await settle(world);
  return world;
}

/** Creates manifests with a Deployment, and what a cluster makes of it: pods, and a lock that the first of them holds. */
export async function createPrinted(
  where: Pick<World, "cluster" | "namespace">,
  manifests: string,
): Promise<void> {
  const objects = loadAll(manifests) as ApiObject[];
  for (const object of objects) await create(where, object);
  const [deployment] = objects.filter(({ kind }) => kind === "Deployment") as [ApiObject];
  const { template } = deployment.spec as { template: { metadata: { labels: object }; spec: object } };
  for (const name of podNames) {
    const status = { phase: "Running" };
    await create(where, {
      kind: "Pod",
      metadata: { name, ...template.metadata },
      spec: template.spec,
      status,
    });
  }
  await create(where, { kind: "Lease", metadata: { name: election }, spec: record(podNames[0]) });
}
const podNames = [
  `${election}-6c9d8f7b5-aaaaa`,
  `${election}-6c9d8f7b5-bbbbb`,
  `${election}-6c9d8f7b5-ccccc`,
] as const;

interface Kubeconfig {
  users: [{ user: object }];
}

/** A kubeconfig of a new account in the namespace of a world, with these rights. */
export async function accountWith(world: World, rules: readonly object[]): Promise<string> {
  const { cluster, namespace } = world;
  const name = "reader";
  for (const object of accountObjects(name, namespace, rules)) await create(world, object);
  const { status } = await cluster.client.request<{ status: { token: string } }>({
    method: "POST",
    path: `${pathOf("ServiceAccount", namespace)}/${name}/token`,
    body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} },
  });
  const config = load(await readFile(cluster.kubeconfig, "utf8")) as Kubeconfig;
  config.users[0].user = { token: status.token };
  const file = join(cluster.folder, `reader-${namespace}`);
  await writeFile(file, dump(config));
  return file;
}
