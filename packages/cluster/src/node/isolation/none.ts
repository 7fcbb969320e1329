/**
 * No isolation, for macOS and for machines on which an ordinary user gets no namespaces. A pod has its own loopback address, which
 * it finds in the variables HOST and POD_IP. Its volumes are below the folder in TENURE_POD_ROOT: /etc/config is
 * $TENURE_POD_ROOT/etc/config.
 */
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { loopbackTwin } from "../addresses.ts";
import type { ContainerPlan, Isolation, Launch } from "./isolation.ts";
import { listenHook, withListenHook } from "./listen-hook.ts";

const tokenFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

export const noIsolation: Isolation = {
  mode: "none",
  shared:
    "Containers share the files, the processes and the network of this machine: each pod has its own loopback address in $HOST, which Node programs use by themselves, and finds its volumes below $TENURE_POD_ROOT.",
  addressInPod: loopbackTwin,

  async prepare(plan) {
    const root = rootOf(plan);
    await rm(root, { recursive: true, force: true });
    await mkdir(root, { recursive: true });
    for (const { source, target } of plan.mounts) {
      const link = join(root, target);
      await mkdir(dirname(link), { recursive: true });
      await rm(link, { recursive: true, force: true });
      await symlink(source, link);
    }
    await writeFile(hookOf(plan), listenHook);
    return launch(plan, plan.argv);
  },

  mainProcess: (pid) => pid,
  enter: (plan, _pid, argv) => launch(plan, argv),
};

const hookOf = ({ folder }: ContainerPlan) => join(folder, "listen-on-pod-address.cjs");
const rootOf = ({ folder }: ContainerPlan) => join(folder, "root");

function launch(plan: ContainerPlan, argv: readonly string[]): Launch {
  const [command = "", ...args] = argv;
  const root = rootOf(plan);
  const address = loopbackTwin(plan.podIP);
  const own = {
    HOST: address,
    POD_IP: address,
    TENURE_POD_ROOT: root,
    TENURE_SERVICEACCOUNT_DIR: join(root, tokenFolder),
  };
  return {
    command,
    args,
    env: withListenHook({ ...own, ...plan.env }, hookOf(plan), address),
    cwd: plan.workingDir ?? plan.imageFolder ?? root,
  };
}
