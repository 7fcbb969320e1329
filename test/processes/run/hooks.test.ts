/** The hooks of the built command, around a real child. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { KubeClient, loadConfig } from "@tenure/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Replica, startTenure } from "./replicas.ts";
import { newWorld } from "./world.ts";

const world = newWorld();
let client: KubeClient;
let count = 0;

beforeAll(() => {
  client = new KubeClient(loadConfig({ kubeconfig: world.kubeconfig }));
});
afterAll(() => client?.close());

interface Lease {
  readonly spec: { readonly holderIdentity: string };
}

function newRun() {
  const name = `hooks-${++count}`;
  const file = join(world.folder, name);
  const start = (
    id: string,
    flags: readonly string[],
    child = `echo child >> ${file}; exec sleep 1000`,
  ): Replica =>
    startTenure([
      ...["run", "--kubeconfig", world.kubeconfig, "--lease-lock-name", name, "--id", id],
      ...[...flags, "--", "sh", "-c", child],
    ]);
  const lines = () => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []);
  const holder = async () => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/default/leases/${name}`;
    return (await client.request<Lease>({ method: "GET", path })).spec.holderIdentity;
  };
  return { file, start, lines, holder };
}

describe("hooks", { timeout: 30_000 }, () => {
  it("run before the start, after the stop and at each change of the role, with the variables of the child", async () => {
    const { file, start, lines, holder } = newRun();
    const roles = `${file}-roles`;
    const replica = start("a", [
      ...["--pre-start", `echo before $TENURE_IDENTITY $TENURE_ELECTION >> ${file}`],
      ...[
        "--post-stop",
        `until [ -e ${file}-go ]; do sleep 0.02; done; echo after $TENURE_IDENTITY >> ${file}`,
      ],
      ...["--hook-timeout", "20s"],
      ...["--on-role-change", `echo $TENURE_ROLE >> ${roles}`],
    ]);
    await expect.poll(lines, { timeout: 15_000 }).toHaveLength(2);
    await expect
      .poll(() => existsSync(roles) && readFileSync(roles, "utf8"), { timeout: 15_000 })
      .toBe("leader\n");
    replica.kill("SIGTERM");
    await replica.logged("child-stopped");
    // The lease is not released before the hook has ended.
    expect([lines().at(-1), await holder()]).toEqual(["child", "a"]);
    writeFileSync(`${file}-go`, "");
    expect(await replica.exit).toEqual({ code: 0, signal: null, survivors: [] });
    expect(lines()).toEqual([`before a default/${file.split("/").at(-1)}`, "child", "after a"]);
    // Nothing waits for this hook.
    await expect.poll(() => readFileSync(roles, "utf8"), { timeout: 15_000 }).toBe("leader\nfollower\n");
  });

  it("a hook before the start that fails counts as a failed start, and another replica leads", async () => {
    const { start, lines } = newRun();
    const failing = start("a", ["--pre-start", "echo cannot mount; exit 32", "--cooldown", "60s"]);
    await failing.hasPrinted("cannot mount");
    const { why } = await failing.logged("child-gave-up");
    expect(why).toContain("it exited with code 32");
    const next = start("b", []);
    await expect.poll(lines, { timeout: 15_000 }).toEqual(["child"]);
    for (const replica of [failing, next]) {
      replica.kill("SIGTERM");
      expect(await replica.exit).toMatchObject({ code: 0, survivors: [] });
    }
  });

  it("a hook that takes too long is killed with its descendants", async () => {
    const { start, lines } = newRun();
    const slow = "setsid sleep 1000 & sleep 1000";
    const replica = start("a", ["--post-stop", slow, "--hook-timeout", "1s"]);
    await expect.poll(lines, { timeout: 15_000 }).toEqual(["child"]);
    replica.kill("SIGTERM");
    expect(await replica.exit).toMatchObject({ survivors: [] });
    expect(replica.lines.some(({ msg }) => msg.includes("The hook postStop failed"))).toBe(true);
  });
});
