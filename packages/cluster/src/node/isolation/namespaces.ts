/**
 * Every container gets its own user, mount, PID, IPC and host name namespaces, with the program unshare and without any rights on
 * the machine. It is root in its own user namespace. The containers share the network of the machine, so a pod listens on its own
 * loopback address; or each pod has a network of its own, and all are in one user namespace.
 */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loopbackTwin } from "../addresses.ts";
import type { PodNetwork } from "../network/pod-network.ts";
import { enterScript } from "./enter-script.ts";
import type { ContainerPlan, Isolation, Launch } from "./isolation.ts";
import { listenHook, withListenHook } from "./listen-hook.ts";
import { packVariables, unpackVariables } from "./odd-variables.ts";

const userFlags = ["--user", "--map-root-user"];
const containerFlags = ["--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child=SIGKILL"];
const noBoundary = "They run as the user of the node agent, so they are no security boundary.";

export const namespaceIsolation: Isolation = {
  mode: "mounts",
  shared: `Containers have their own files, volumes and processes, but share the network of this machine: each pod has its own loopback address in $HOST, which Node programs use by themselves. ${noBoundary}`,
  addressInPod: loopbackTwin,

  async prepare(plan) {
    const hook = join(plan.folder, "listen-on-pod-address.cjs");
    await writeFile(hook, listenHook);
    const script = await enterArguments(plan, [{ source: hook, target: hookPath, how: "ro" }]);
    const args = [...userFlags, ...containerFlags, "--", ...script];
    return { command: "unshare", args, env: sharedEnvironment(plan), cwd: "/" };
  },

  mainProcess,
  enter: (plan, pid, argv) => enterLaunch(plan, pid, argv, [], sharedEnvironment(plan)),
};

/** Containers in a network of their pod. */
export function networkIsolation(network: PodNetwork): Isolation {
  const environment = (plan: ContainerPlan) =>
    packVariables({ HOST: "0.0.0.0", POD_IP: plan.podIP, ...plan.env });
  return {
    mode: "network",
    shared: `Each pod has its own network: it reaches other pods and services, but neither this machine nor the internet. Containers have their own files, volumes and processes. ${noBoundary}`,
    network,
    addressInPod: (address) => address,

    async prepare(plan) {
      const script = await enterArguments(plan, []);
      const join = network.joinFlags(plan.podIP);
      const args = [...join, "--", "unshare", ...containerFlags, "--", ...script];
      return { command: "nsenter", args, env: environment(plan), cwd: "/" };
    },

    mainProcess,
    enter: (plan, pid, argv) => enterLaunch(plan, pid, argv, ["--net"], environment(plan)),
  };
}

interface ScriptMount {
  readonly source: string;
  readonly target: string;
  readonly how: string;
}

/** The script that builds the root of the container, with its arguments. */
async function enterArguments(plan: ContainerPlan, more: readonly ScriptMount[]): Promise<string[]> {
  const work = join(plan.folder, "root");
  await mkdir(work, { recursive: true });
  const mounts = [
    ...more,
    ...imageMounts(plan),
    ...(await rootMounts(plan)),
    ...plan.mounts.map(({ readOnly, ...mount }) => ({ ...mount, how: readOnly ? "ro" : "rw" })),
  ];
  // A folder comes before what is mounted into it.
  mounts.sort((a, b) => depth(a.target) - depth(b.target));
  return [
    "/bin/sh",
    "-c",
    enterScript,
    "sh",
    work,
    plan.workingDir ?? plan.imageFolder ?? "/",
    plan.hostname,
    String(mounts.length),
    ...mounts.flatMap(({ source, target, how }) => [source, target, how]),
    ...unpackVariables(plan.env, plan.argv),
  ];
}

function mainProcess(pid: number): number | undefined {
  try {
    // The first and only child of unshare.
    const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    return child ? Number(child) : undefined;
  } catch {
    return undefined;
  }
}

function enterLaunch(
  plan: ContainerPlan,
  pid: number,
  argv: readonly string[],
  more: readonly string[],
  env: Readonly<Record<string, string>>,
): Launch {
  const main = mainProcess(pid) ?? pid;
  const own = ["--mount", "--pid", "--ipc", "--uts", "--root", "--wd"];
  const flags = ["--target", String(main), "--user", "--preserve-credentials", ...own, ...more];
  const cwd = plan.workingDir ?? plan.imageFolder ?? "/";
  const script = 'cd "$1" 2>/dev/null || cd /; shift; exec "$@"';
  return {
    command: "nsenter",
    args: [...flags, "--", "/bin/sh", "-c", script, "sh", cwd, ...unpackVariables(plan.env, argv)],
    env,
    cwd: "/",
  };
}

/** Where the container finds the module for Node programs. */
const hookPath = "/run/tenure/listen-on-pod-address.cjs";

const depth = (path: string) => path.split("/").filter(Boolean).length;

function sharedEnvironment(plan: ContainerPlan): Record<string, string> {
  const address = loopbackTwin(plan.podIP);
  const env = { HOST: address, POD_IP: address, ...plan.env };
  return packVariables(withListenHook(env, hookPath, address));
}

/**
 * /tmp and /run of the container are empty. An image, a program or its script that is there is shown, with the whole folder below
 * /tmp or /run that it is in: a program needs files beside it, and links lead elsewhere. Changes to it are the container's own.
 */
function imageMounts({ imageFolder, argv }: ContainerPlan): ScriptMount[] {
  const isInHiddenFolder = (path: string | undefined): path is string =>
    path !== undefined && /^\/(tmp|run)\/[^/]+\/./.test(path) && existsSync(path);
  // Further arguments may be files of the container, such as /tmp/ready.
  const named = [argv[0], argv[1]].filter(isInHiddenFolder);
  const places = [...named, ...named.map((path) => realpathSync(path))].filter(isInHiddenFolder);
  const folders = new Set(places.map((path) => path.split("/").slice(0, 3).join("/")));
  if (imageFolder && /^\/(tmp|run)\//.test(imageFolder))
    folders.add(imageFolder.split("/").slice(0, 3).join("/"));
  return [...folders].map((path) => ({ source: path, target: path, how: "cow" }));
}

/** The kernel's own, which no image can bring. */
const kernelFolders = ["dev", "proc", "sys"];

/** What an image has in its folder rootfs is at / of the container, in place of what the machine has there. */
async function rootMounts({ imageFolder }: ContainerPlan): Promise<ScriptMount[]> {
  if (imageFolder === undefined) return [];
  const rootfs = join(imageFolder, "rootfs");
  const names = await readdir(rootfs).catch(() => []);
  return names
    .filter((name) => !kernelFolders.includes(name))
    .map((name) => ({ source: join(rootfs, name), target: `/${name}`, how: "cow" }));
}
