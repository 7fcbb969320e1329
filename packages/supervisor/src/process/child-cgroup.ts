/**
 * A control group (cgroup v2) for the child and all its descendants, below our own. No descendant can leave it, whatever it does
 * to its environment, its session or its parents, and one write kills all of it. Only where we may write to our own control
 * group: a systemd service with Delegate=yes, a privileged container. Everywhere else there is none, and nothing changes.
 *
 * The child enters its group shortly after its start, together with what it has started by then: moving a process can take tens
 * of milliseconds, for which the child does not wait. A daemon that the child starts before, and that can be found in no other
 * way, is not in the group.
 */
import {
  accessSync,
  constants,
  promises as files,
  mkdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

export interface ChildCgroup {
  /**
   * Moves the child into the group, then those that it has started meanwhile. Does nothing if there can be no group.
   * @param find all pids that belong into the group, at the moment of the call
   */
  add(child: number, find: () => readonly number[]): Promise<void>;
  /** The pids in the group. */
  members(): number[];
  kill(): void;
  /** Call this when the group is empty. */
  remove(): void;
}

interface Places {
  /** Where control groups are mounted: alone, or beside those of version 1. */
  readonly mounts?: readonly string[];
  /** Names our own control group. */
  readonly membership?: string;
}

/** How often to look for processes that were started while others were moved. */
const mostRounds = 10;

/** @param marker names the group, so that the watchdog finds the group of its supervisor */
export function childCgroup(
  marker: string,
  { mounts = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"], membership = "/proc/self/cgroup" }: Places = {},
): ChildCgroup {
  const own = attempt(() => /^0::(\/.*)$/m.exec(readFileSync(membership, "utf8"))?.[1]);
  const mount = mounts.find(
    (path) => attempt(() => readFileSync(join(path, "cgroup.controllers"))) !== undefined,
  );
  if (own === undefined || mount === undefined) return none;
  const folder = join(mount, own, `tenure-${marker}`);
  const procs = join(folder, "cgroup.procs");
  let isUsable = true;
  let adding: Promise<void> = Promise.resolve();

  const members = () => {
    const text = attempt(() => readFileSync(procs, "utf8")) ?? "";
    // A process of another PID namespace is listed as 0.
    return text
      .split("\n")
      .map(Number)
      .filter((pid) => pid > 0);
  };
  const remove = () => void attempt(() => rmdirSync(folder));

  async function addAll(child: number, find: () => readonly number[]): Promise<void> {
    isUsable &&=
      attempt(() => {
        mkdirSync(folder, { recursive: true });
        accessSync(join(folder, "cgroup.kill"), constants.W_OK);
        return true;
      }) ?? false;
    if (!isUsable) remove();
    const refused = new Set<number>();
    for (let round = 0; isUsable && round < mostRounds; round++) {
      const inside = new Set(members());
      const wanted = round === 0 ? [child] : find();
      const outside = wanted.filter((pid) => pid > 0 && !inside.has(pid) && !refused.has(pid));
      if (outside.length === 0) return;
      for (const pid of outside) {
        // It may have exited, or this process may not be allowed to move it.
        await files.writeFile(procs, String(pid)).catch(() => refused.add(pid));
      }
    }
  }

  return {
    members,
    add(child, find) {
      adding = adding.then(() => addAll(child, find));
      return adding;
    },
    kill() {
      attempt(() => writeFileSync(join(folder, "cgroup.kill"), "1"));
    },
    remove() {
      remove();
      // A child that exits at once is gone before its group exists.
      void adding.then(remove);
    },
  };
}

const none: ChildCgroup = { add: async () => {}, members: () => [], kill: () => {}, remove: () => {} };

function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
