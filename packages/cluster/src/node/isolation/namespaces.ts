/**
 * Every container gets its own user, mount, PID, IPC and host name namespaces, with the program unshare and without any rights on
 * the machine. It is root in its own user namespace. All containers share the network of the machine, so a pod listens on its
 * own loopback address.
 */
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { loopbackTwin } from "../addresses.ts";
import { enterScript } from "./enter-script.ts";
import type { ContainerPlan, Isolation, Launch } from "./isolation.ts";
import { listenHook, withListenHook } from "./listen-hook.ts";

const unshareFlags = [
  "--user",
  "--map-root-user",
  "--mount",
  "--pid",
  "--ipc",
  "--uts",
  "--fork",
  "--kill-child=SIGKILL",
];

export const namespaceIsolation: Isolation = {
  mode: "mounts",
  shared:
    "Containers have their own files, volumes and processes, but share the network of this machine: each pod has its own loopback address in $HOST, which Node programs use by themselves. They run as the user of the node agent, so they are no security boundary.",
  addressInPod: loopbackTwin,

  async prepare(plan) {
    const work = join(plan.folder, "root");
    const hook = join(plan.folder, "listen-on-pod-address.cjs");
    await mkdir(work, { recursive: true });
    await writeFile(hook, listenHook);
    const mounts = [
      { source: hook, target: hookPath, how: "ro" },
      ...imageMounts(plan),
      ...plan.mounts.map(({ readOnly, ...mount }) => ({ ...mount, how: readOnly ? "ro" : "rw" })),
    ];
    // A folder comes before what is mounted into it.
    mounts.sort((a, b) => depth(a.target) - depth(b.target));
    const args = [
      ...unshareFlags,
      "--",
      "/bin/sh",
      "-c",
      enterScript,
      "sh",
      work,
      plan.workingDir ?? plan.imageFolder ?? "/",
      plan.hostname,
      String(mounts.length),
      ...mounts.flatMap(({ source, target, how }) => [source, target, how]),
      ...plan.argv,
    ];
    return { command: "unshare", args, env: environment(plan), cwd: "/" };
  },

  mainProcess(pid) {
    try {
      // The first and only child of unshare.
      const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
      return child ? Number(child) : undefined;
    } catch {
      return undefined;
    }
  },

  enter(plan, pid, argv): Launch {
    const main = namespaceIsolation.mainProcess(pid) ?? pid;
    const flags = [
      "--user",
      "--preserve-credentials",
      "--mount",
      "--pid",
      "--ipc",
      "--uts",
      "--root",
      "--wd",
    ];
    const cwd = plan.workingDir ?? plan.imageFolder ?? "/";
    const script = 'cd "$1" 2>/dev/null || cd /; shift; exec "$@"';
    return {
      command: "nsenter",
      args: ["--target", String(main), ...flags, "--", "/bin/sh", "-c", script, "sh", cwd, ...argv],
      env: environment(plan),
      cwd: "/",
    };
  },
};

/** Where the container finds the module for Node programs. */
const hookPath = "/run/tenure/listen-on-pod-address.cjs";

const depth = (path: string) => path.split("/").filter(Boolean).length;

function environment(plan: ContainerPlan): Record<string, string> {
  const address = loopbackTwin(plan.podIP);
  return withListenHook({ HOST: address, POD_IP: address, ...plan.env }, hookPath, address);
}

/** /tmp and /run of the container are empty. What the program itself needs there is shown, and changes to it are the container's own. */
function imageMounts({
  imageFolder,
  argv,
}: ContainerPlan): { source: string; target: string; how: string }[] {
  const isHidden = (path: string) => path.startsWith("/tmp/") || path.startsWith("/run/");
  const folders = [imageFolder, dirname(argv[0])].filter((path) => path !== undefined && isHidden(path));
  return [...new Set(folders as string[])].map((path) => ({ source: path, target: path, how: "cow" }));
}
