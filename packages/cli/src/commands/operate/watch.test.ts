/** The live view on a terminal: it shows changes, fits into the terminal, and shows the cursor again at the end. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@tenure/base";
import { KubeClient, loadConfig } from "@tenure/kube";
import { type Sandbox, startSandbox } from "@tenure/sandbox";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runCommandLine } from "../../command-line.ts";
import { widthOf } from "../../display/paint.ts";
import { fakePlatform } from "../../testing/fake-platform.ts";

let sandbox: Sandbox;
let home: string;
let client: KubeClient;
beforeAll(async () => {
  sandbox = await startSandbox();
  home = await mkdtemp(join(tmpdir(), "tenure-watch-"));
  const kubeconfig = join(home, "kubeconfig");
  await sandbox.writeKubeconfig(kubeconfig);
  client = new KubeClient(() => loadConfig({ kubeconfig }));
});
afterAll(async () => {
  client.close();
  await sandbox.close();
  await rm(home, { recursive: true });
});

const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const spec = (holderIdentity: string, leaseTransitions: number) => ({
  holderIdentity,
  leaseDurationSeconds: holderIdentity ? 15 : 1,
  renewTime: new Date().toISOString().replace("Z", "000Z"),
  leaseTransitions,
});

it.each([
  ["with colours", {}, true],
  ["without colours if NO_COLOR is set", { NO_COLOR: "1" }, false],
])("%s", async (name, env, hasColours) => {
  const election = hasColours ? "bright" : "plain";
  const created = await client.request<{ metadata: object }>({
    method: "POST",
    path,
    body: { metadata: { name: election }, spec: spec("pod-a", 0) },
  });
  const args = `watch ${election} --kubeconfig ${join(home, "kubeconfig")}`;
  const platform = fakePlatform(args, { home, isTerminal: true, env });
  platform.clock = systemClock;
  const ended = runCommandLine(platform);
  const frames = () => platform.printed.split("\u001b[J");
  await expect.poll(() => frames().at(-1)).toContain("pod-a");
  await client.request({
    method: "PUT",
    path: `${path}/${election}`,
    body: { ...created, spec: spec("pod-b", 1) },
  });
  await expect.poll(() => frames().at(-1)).toMatch(/pod-b.* has led for/);
  platform.interrupt();
  expect(await ended, name).toBe(0);
  const last = (frames().at(-1) as string).replace("\u001b[?25h\n", "");
  expect(last).toContain("transitions 1");
  expect(last).toMatch(/pod-b leads \(transition 1, before: pod-a\)/);
  // One row for each holder, and blocks in the row of the leader.
  expect(last.split("\n").filter((line) => /^ {2}pod-[ab] /.test(line))).toHaveLength(2);
  expect(last).toMatch(/ {2}pod-b .*█/);
  for (const line of last.split("\n")) expect(widthOf(line)).toBeLessThanOrEqual(80);
  expect(last.includes("\u001b[")).toBe(hasColours);
  expect(platform.printed.startsWith("\u001b[?25l")).toBe(true);
  expect(platform.printed.endsWith("\u001b[?25h\n")).toBe(true);
});

it("fits many elections into the terminal, and keys select one, open it, filter and quit", async () => {
  for (let index = 0; index < 40; index++) {
    const name = `many-${String(index).padStart(2, "0")}`;
    await client.request({
      method: "POST",
      path,
      body: { metadata: { name }, spec: spec(`holder-of-${index}`, 0) },
    });
  }
  const platform = fakePlatform(`watch -A --kubeconfig ${join(home, "kubeconfig")}`, {
    home,
    isTerminal: true,
  });
  platform.clock = systemClock;
  const ended = runCommandLine(platform);
  /** The last drawing. */
  const screen = () => platform.printed.split("\u001b[J").at(-1) ?? "";
  await expect.poll(screen).toMatch(/ (\d+) of \1 .*q quit/);
  await expect.poll(screen).toContain("› default/");
  expect(screen().split("\n").length).toBeLessThanOrEqual(24);
  platform.press("/many-\r");
  await expect.poll(screen).toMatch(/ 40 of \d+ /);
  expect(screen()).toMatch(/^› default\/many-00/m);
  expect(screen()).not.toMatch(/^[› ] default\/many-39/m);
  platform.press("G");
  await expect.poll(screen).toContain("› default/many-39");
  platform.press("\r");
  await expect.poll(screen).toMatch(/default\/many-39.*holder-of-39.* has led for/);
  expect(screen()).not.toMatch(/^[› ] default\/many-38/m);
  platform.press("q");
  expect(await ended).toBe(0);
});
