/** Finds out which isolation this machine allows. */
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { first } from "@tenure/base";
import { startProgram } from "@tenure/supervisor/internal";
import type { NodePlatform } from "../platform.ts";
import type { Isolation } from "./isolation.ts";
import { namespaceIsolation } from "./namespaces.ts";
import { noIsolation } from "./none.ts";

export type IsolationChoice = "auto" | "none" | "mounts" | "network";

/** A machine that is busy may take its time, but not for ever. */
const trialMs = 10_000;

/** Without a network: whoever asked for one gives pods one. Rejects if the machine does not allow what was asked for. */
export async function chooseIsolation(choice: IsolationChoice, platform: NodePlatform): Promise<Isolation> {
  if (choice === "none") return noIsolation;
  const problem = platform.machine.os === "linux" ? await tryNamespaces(platform) : "this is not Linux";
  if (problem === undefined) return namespaceIsolation;
  if (choice === "auto") return noIsolation;
  throw new Error(
    `Cannot isolate containers: ${problem}. Allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces), or choose isolation "none".`,
  );
}

async function tryNamespaces(platform: NodePlatform): Promise<string | undefined> {
  const folder = await mkdtemp(join(platform.machine.temporaryFolder, "tenure-isolation-"));
  try {
    const launch = await namespaceIsolation.prepare({
      argv: ["/bin/sh", "-c", "echo > /tmp/trial && echo > /etc/.tenure-trial"],
      env: { PATH: platform.inheritedEnv.PATH ?? "/usr/bin:/bin" },
      workingDir: "/",
      imageFolder: undefined,
      mounts: [],
      hostname: "trial",
      podIP: "10.244.0.1",
      folder,
    });
    const { child, spawned } = startProgram(launch, ["ignore", "ignore", "pipe"]);
    let text = "";
    child.stderr?.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
    });
    const ended = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
    await spawned;
    const outcome = await first(platform.clock, { ended, late: trialMs });
    if (outcome === "late") {
      child.kill("SIGKILL");
      return `a trial took longer than ${trialMs / 1000} s`;
    }
    const code = await ended;
    return code === 0 ? undefined : text.trim().split("\n")[0] || `unshare exited with code ${code}`;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
