/** Containers of an OCI runtime (runc or crun), without an engine. */
import { spawnSync } from "node:child_process";

/** runc first: Debian's crun refuses machines that have both versions of cgroups. */
export function runtimeName(): string | undefined {
  return ["runc", "crun"].find((name) => spawnSync(name, ["--version"]).status === 0);
}

/** Why this machine cannot run containers; undefined if it can. */
export function reasonAgainst(): string | undefined {
  if (runtimeName() === undefined) return "neither runc nor crun is installed";
  if (process.getuid?.() !== 0)
    return "this user may not map the numbers of other users into a namespace; run the test as root";
  const { status, stderr } = spawnSync(
    "unshare",
    ["--user", "--map-root-user", "--mount", "--pid", "--fork", "true"],
    {
      encoding: "utf8",
    },
  );
  return status === 0 ? undefined : `this machine denies namespaces: ${stderr.trim()}`;
}

export interface ContainerOptions {
  /** The unpacked layer. */
  readonly root: string;
  readonly args: readonly string[];
  readonly env: readonly string[];
  /** A folder of this machine that the container sees as /config. */
  readonly config: string;
}

/**
 * The configuration of the runtime: the rights of a pod with the profile "restricted", a read-only root file system, and the network
 * of this machine, where the API server is.
 */
export function runtimeConfig({ root, args, env, config }: ContainerOptions): object {
  const ids = [{ containerID: 0, hostID: 0, size: 65_533 }];
  return {
    ociVersion: "1.0.2",
    process: {
      user: { uid: 65_532, gid: 65_532 },
      args,
      env,
      cwd: "/home/nonroot",
      capabilities: { bounding: [], effective: [], permitted: [], inheritable: [], ambient: [] },
      noNewPrivileges: true,
    },
    root: { path: root, readonly: true },
    hostname: "tenure",
    mounts: [
      { destination: "/proc", type: "proc", source: "proc" },
      { destination: "/dev", type: "tmpfs", source: "tmpfs", options: ["nosuid", "mode=755", "size=65536k"] },
      { destination: "/tmp", type: "tmpfs", source: "tmpfs", options: ["nosuid", "nodev", "mode=1777"] },
      { destination: "/config", type: "bind", source: config, options: ["rbind", "ro"] },
    ],
    linux: {
      uidMappings: ids,
      gidMappings: ids,
      namespaces: ["user", "pid", "mount", "ipc", "uts"].map((type) => ({ type })),
    },
  };
}
