/** For tests of pods with a network of their own. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Why this machine cannot give pods a network of their own; undefined if it can. */
export async function networkObstacle(): Promise<string | undefined> {
  if (process.platform !== "linux") return "this is not Linux";
  const script = "ip link add pods type bridge && ip link set pods up";
  const args = ["--user", "--map-root-user", "--net", "--", "/bin/sh", "-c", script];
  const env = { PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
  const { stderr } = await promisify(execFile)("unshare", args, { env }).catch((error) => error);
  return stderr ? stderr.trim() : undefined;
}
