import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { loadConfig } from "../load-config.ts";

it("gets the token from a real script next to a real kubeconfig", async () => {
  const dir = await mkdtemp(join(tmpdir(), "tenure-kube-"));
  try {
    await writeFile(
      join(dir, "plugin.mjs"),
      `#!${process.execPath}
const { apiVersion, kind } = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
console.log(JSON.stringify({ apiVersion, kind, status: { token: process.argv[2] + process.env.SUFFIX } }));`,
    );
    await chmod(join(dir, "plugin.mjs"), 0o755);
    await writeFile(
      join(dir, "config"),
      `clusters: [{name: c, cluster: {server: "https://api"}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
users:
- name: u
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: ./plugin.mjs
      args: [to]
      env: [{name: SUFFIX, value: ken}]
      interactiveMode: Never
`,
    );
    const { credentials } = await loadConfig({ kubeconfig: join(dir, "config") });
    expect(await credentials.headers()).toEqual({ authorization: "Bearer token" });
  } finally {
    await rm(dir, { recursive: true });
  }
});
