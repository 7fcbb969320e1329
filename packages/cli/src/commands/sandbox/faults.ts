/** `tenure sandbox faults …`: talks to a running sandbox. */
import { readFile } from "node:fs/promises";
import {
  connectSandbox,
  type FaultEffect,
  type FaultSpec,
  type SandboxControl,
  SandboxError,
} from "@tenure/sandbox";
import { CliError } from "../../errors.ts";
import { defaultKubeconfigPath, type Platform } from "../../platform.ts";

interface Flags {
  kubeconfig?: string;
}

type AddFlags = Flags & Omit<FaultSpec, "effect">;

export async function addFault(
  effect: string,
  { kubeconfig, ...where }: AddFlags,
  platform: Platform,
): Promise<void> {
  const spec: FaultSpec = { ...where, effect: parseEffect(effect) };
  const id = await control({ ...(kubeconfig ? { kubeconfig } : {}) }, platform, (sandbox) =>
    sandbox.addFault(spec),
  );
  platform.out(`${id}\n`);
}

export async function listFaults(flags: Flags, platform: Platform): Promise<void> {
  const faults = await control(flags, platform, (sandbox) => sandbox.listFaults());
  for (const fault of faults) platform.out(`${JSON.stringify(fault)}\n`);
}

export async function removeFault(id: number, flags: Flags, platform: Platform): Promise<void> {
  const removed = await control(flags, platform, (sandbox) => sandbox.removeFault(id));
  if (!removed)
    throw new CliError("FAILED", `There is no fault ${id}: tenure sandbox faults list shows those there are`);
}

export async function clearFaults(flags: Flags, platform: Platform): Promise<void> {
  await control(flags, platform, (sandbox) => sandbox.clearFaults());
}

export async function compact(flags: Flags, platform: Platform): Promise<void> {
  const revision = await control(flags, platform, (sandbox) => sandbox.compact());
  platform.out(`Watches can resume from revision ${revision} on.\n`);
}

export async function restart(flags: Flags, platform: Platform): Promise<void> {
  await control(flags, platform, (sandbox) => sandbox.restart());
}

async function control<T>(
  flags: Flags,
  platform: Platform,
  action: (sandbox: SandboxControl) => Promise<T>,
): Promise<T> {
  const path = flags.kubeconfig ?? platform.env("KUBECONFIG") ?? defaultKubeconfigPath(platform);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    const way = "start one with `tenure sandbox`, or say with --kubeconfig where its kubeconfig is";
    throw new CliError(
      "FAILED",
      `Cannot find a sandbox as there is no readable kubeconfig at ${path}: ${way}`,
      { cause },
    );
  }
  try {
    return await action(await connectSandbox(text));
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    throw new CliError(error.code === "INVALID_OPTION" ? "USAGE" : "FAILED", error.message, { cause: error });
  }
}

const words = ["hang", "drop", "lose-answer", "stall-watch", "cut-watch"];

/** `hang`, `latency=200`, `status=429,retry-after=5` */
function parseEffect(text: string): FaultEffect {
  if (words.includes(text)) return text as FaultEffect;
  const latency = /^latency=(\d+(?:\.\d+)?)(?:ms)?$/.exec(text);
  if (latency) return { latencyMs: Number(latency[1]) };
  const status = /^status=(409|429|500|503)(?:,retry-after=(\d+))?$/.exec(text);
  if (status) {
    const code = Number(status[1]) as 409 | 429 | 500 | 503;
    return status[2] ? { status: code, retryAfterSeconds: Number(status[2]) } : { status: code };
  }
  const known = [...words, "latency=MS", "status=409|429|500|503"].join(", ");
  throw new CliError("USAGE", `There is no effect ${JSON.stringify(text)}: use one of ${known}`);
}
