/** `tenure sandbox faults`: controls a running sandbox. */
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
    throw new CliError("Failed", `There is no fault ${id}: list them with tenure sandbox faults list`);
}

export async function clearFaults(flags: Flags, platform: Platform): Promise<void> {
  await control(flags, platform, (sandbox) => sandbox.clearFaults());
}

export async function compact(flags: Flags, platform: Platform): Promise<void> {
  const revision = await control(flags, platform, (sandbox) => sandbox.compact());
  platform.out(`Watches can resume from revision ${revision} or later.\n`);
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
    const fix = "start one with `tenure sandbox`, or pass its kubeconfig with --kubeconfig";
    throw new CliError("Failed", `Cannot find a sandbox: ${path} is not readable; ${fix}`, { cause });
  }
  try {
    return await action(await connectSandbox(text));
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    throw new CliError(error.code === "INVALID_OPTION" ? "Usage" : "Failed", error.message, { cause: error });
  }
}

const plainEffects = ["hang", "drop", "lose-answer", "stall-watch", "cut-watch"];

/** `hang`, `latency=200`, `status=429,retry-after=5` */
function parseEffect(text: string): FaultEffect {
  if (plainEffects.includes(text)) return text as FaultEffect;
  const latency = /^latency=(\d+(?:\.\d+)?)(?:ms)?$/.exec(text);
  if (latency) return { latencyMs: Number(latency[1]) };
  const status = /^status=(409|429|500|503)(?:,retry-after=(\d+))?$/.exec(text);
  if (status) {
    const code = Number(status[1]) as 409 | 429 | 500 | 503;
    return status[2] ? { status: code, retryAfterSeconds: Number(status[2]) } : { status: code };
  }
  const known = [...plainEffects, "latency=MS", "status=409|429|500|503"].join(", ");
  throw new CliError("Usage", `The effect must be one of ${known}, but is ${JSON.stringify(text)}`);
}
