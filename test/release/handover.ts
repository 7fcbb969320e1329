/** Three commands to a handover, as a new user types them: a sandbox, and two replicas of which the first is stopped. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";

export interface Started {
  readonly process: ChildProcess;
  readonly exited: Promise<number | null>;
  output(): string;
}

/** An empty folder, which is also the home of the commands. */
export class Desk {
  readonly folder: string = mkdtempSync(join(tmpdir(), "tenure-desk-"));
  readonly #started: ChildProcess[] = [];

  /** @param command the program and its arguments @param path PATH of the command */
  start(command: readonly string[], path: string): Started {
    const [program = "", ...args] = command;
    const child = spawn(program, args, {
      cwd: this.folder,
      env: { PATH: path, HOME: this.folder },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#started.push(child);
    let text = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => {
        text += chunk;
      });
    const exited = new Promise<number | null>((resolve, reject) => {
      child.on("close", resolve);
      child.on("error", reject);
    });
    return { process: child, exited, output: () => text };
  }

  close(): void {
    for (const child of this.#started) child.kill("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Prints who works, until it is stopped. */
const worker = ["sh", "-c", 'echo "$TENURE_IDENTITY works"; exec sleep 1000'];

/** @param tenure how the command is started @param path PATH of the commands */
export async function handOver(desk: Desk, tenure: readonly string[], path: string): Promise<void> {
  const sandbox = desk.start([...tenure, "sandbox", "--port", "0"], path);
  await expect.poll(sandbox.output).toContain("ready");
  const flags = ["--kubeconfig", ".tenure/sandbox.kubeconfig", "--lease-lock-name", "demo"];
  const replica = (id: string) => desk.start([...tenure, "run", ...flags, "--id", id, "--", ...worker], path);
  const first = replica("first");
  await expect.poll(first.output).toContain("first works");
  const second = replica("second");
  await expect.poll(second.output).toContain("new leader elected: first");
  first.process.kill("SIGTERM");
  await expect.poll(second.output).toContain("second works");
  expect(await first.exited).toBe(0);
  await dieWithTheirReplica(second);
  sandbox.process.kill("SIGTERM");
  expect(await sandbox.exited).toBe(0);
}

/** The watchdog: nothing of a child is left when tenure is killed. */
async function dieWithTheirReplica({ process: replica, output, exited }: Started): Promise<void> {
  const [, child = ""] = /"event":"child-started","pid":(\d+)/.exec(output()) ?? [];
  expect(isAlive(Number(child))).toBe(true);
  replica.kill("SIGKILL");
  await exited.catch(() => {});
  await expect.poll(() => isAlive(Number(child))).toBe(false);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
