/** Runs the program in the README of @tenure/traffic. Only the namespace and the ports are replaced. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { connectForLocks, eventually, type LockTarget } from "../../conformance/locks-target.ts";
import { checkBuild } from "../election/replicas.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
let connection: LockTarget;
let folder: string;

beforeAll(async () => {
  checkBuild();
  connection = await connectForLocks();
  folder = await mkdtemp(join(tmpdir(), "tenure-readme-"));
}, 60_000);
afterAll(async () => {
  await connection?.close();
  await rm(folder, { recursive: true, force: true });
});

it("puts its pod into traffic and takes it out again", async () => {
  const { target } = connection;
  const namespace = await target.namespace();
  const readme = readFileSync(join(root, "packages/traffic/README.md"), "utf8");
  const [, program = ""] = /```js\n([\s\S]*?)```/.exec(readme) ?? [];
  const replacements = {
    '"prod"': JSON.stringify(namespace),
    '":8080"': '"127.0.0.1:0"',
    "listen(3000)": "listen(0)",
  };
  const adapted = Object.entries(replacements).reduce((text, [from, to]) => text.replace(from, to), program);
  await writeFile(join(folder, "program.mjs"), adapted);
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const spec = { containers: [{ name: "app", image: "app:1" }] };
  await target.request("POST", pods, { metadata: { name: "billing-1" }, spec });
  const role = async () =>
    (await target.request("GET", `${pods}/billing-1`)).body.metadata.labels?.["tenure.dev/role"];
  const child = spawn(process.execPath, ["program.mjs"], {
    cwd: folder,
    env: { ...process.env, KUBECONFIG: connection.kubeconfig, POD_NAME: "billing-1" },
    stdio: "inherit",
  });
  const exit = once(child, "exit");
  try {
    await eventually(async () => (await role()) === "leader", "the label leader on its pod");
    child.kill("SIGTERM");
    expect(await exit).toEqual([0, null]);
    expect(await role()).toBe("standby");
  } finally {
    child.kill("SIGKILL");
  }
});
