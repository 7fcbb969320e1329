/** The article's three terminals with the built command, typed as the article has it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Sandbox, startSandbox } from "@tenure/sandbox";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { checkBuild } from "../election/members.ts";
import { checkRunBuild, endAll, startTenure } from "./replicas.ts";

let sandbox: Sandbox;
let folder: string;
let kubeconfig: string;

beforeAll(async () => {
  checkBuild();
  checkRunBuild();
  sandbox = await startSandbox();
  folder = await mkdtemp(join(tmpdir(), "tenure-elect-"));
  kubeconfig = join(folder, "kubeconfig");
  await sandbox.writeKubeconfig(kubeconfig);
}, 60_000);
afterEach(endAll);
afterAll(async () => {
  await sandbox?.close();
  await rm(folder, { recursive: true, force: true });
});

it.each(["--", "-"])(
  "three terminals, flags with %s; Ctrl-C on the leader moves leadership",
  async (dash) => {
    const flags = [`${dash}kubeconfig=${kubeconfig}`, `${dash}lease-lock-name`, `example${dash.length}`];
    const open = (id: string) =>
      startTenure([
        "elect",
        ...flags,
        `${dash}lease-lock-namespace=default`,
        `${dash}id=${id}`,
        "--log-format=text",
      ]);
    const first = open("1");
    await first.prints("1: I am the leader!");
    const others = new Map(["2", "3"].map((id) => [id, open(id)]));
    for (const [id, other] of others) await other.prints(`${id}: new leader elected: 1`);
    first.kill("SIGINT");
    expect((await first.exit).code).toBe(0);
    const next = await Promise.any(
      [...others].map(async ([id, other]) => {
        await other.prints("I am the leader!");
        return id;
      }),
    );
    const last = next === "2" ? "3" : "2";
    await others.get(last)?.prints(`${last}: new leader elected: ${next}`);
    for (const id of [next, last]) {
      others.get(id)?.kill("SIGINT");
      expect((await others.get(id)?.exit)?.code).toBe(0);
    }
  },
);
