/** `--user NAME|UID[:GROUP|GID]`: the user that the child runs as, looked up in /etc/passwd and /etc/group. */
import { readFileSync } from "node:fs";
import { type Checked, checked, type Problem, quote } from "@tenure/base";

export interface ChildUser {
  readonly uid: number;
  readonly gid: number;
  /** Undefined for a number that has no entry in /etc/passwd. */
  readonly name: string | undefined;
  readonly home: string | undefined;
}

/** The parts of the machine that decide whether the child can run as another user. */
export interface UserFacts {
  readonly passwd: string;
  readonly group: string;
  /** The user that this process runs as. */
  readonly ownUid: number;
  /** The effective capabilities of this process; undefined if the system does not show them. */
  readonly capabilities: bigint | undefined;
}

/** To become another user, and to signal and kill the child afterwards: CAP_KILL, CAP_SETGID, CAP_SETUID. */
const neededCapabilities = (1n << 5n) | (1n << 6n) | (1n << 7n);
const field = "user";

export function readUserFacts(ownUid: number): UserFacts {
  const status = /^CapEff:\s*([0-9a-f]+)$/m.exec(readText("/proc/self/status"))?.[1];
  return {
    passwd: readText("/etc/passwd"),
    group: readText("/etc/group"),
    ownUid,
    capabilities: status === undefined ? undefined : BigInt(`0x${status}`),
  };
}

export function checkUser(text: string, facts: UserFacts): Checked<ChildUser> {
  const [userText = "", groupText, ...more] = text.split(":");
  const user = findUser(userText, facts.passwd);
  const gid = groupText === undefined ? user?.gid : findGroup(groupText, facts.group);
  const problems: Problem[] = [];
  const value = quote(text);
  if (userText === "" || groupText === "" || more.length > 0) {
    const rule = "must be a name or a number, with or without a group: nobody, 1000, app:app, 1000:1000";
    problems.push({ field, rule, value });
  } else if (!user) {
    problems.push({ field, rule: "must be in /etc/passwd", value, fix: "pass numbers, as in 1000:1000" });
  } else if (gid === undefined) {
    const rule =
      groupText === undefined ? "must name a group too" : "must name a group that is in /etc/group";
    problems.push({ field, rule, value, fix: `pass numbers, as in ${user.uid}:${user.uid}` });
  } else if (user.uid !== facts.ownUid) {
    problems.push(...rightsProblems(facts, value));
  }
  return checked({ uid: 0, name: undefined, home: undefined, ...user, gid: gid ?? 0 }, problems);
}

/** A child that cannot be killed could outlive its term, so that is checked before anything starts. */
function rightsProblems({ ownUid, capabilities }: UserFacts, value: string): Problem[] {
  const isAllowed =
    capabilities === undefined ? ownUid === 0 : (capabilities & neededCapabilities) === neededCapabilities;
  if (isAllowed) return [];
  const rule = `requires that tenure runs as root with the capabilities KILL, SETGID and SETUID; it runs as user ${ownUid}`;
  return [{ field, rule, value, fix: "leave it out, and set runAsUser in the pod instead" }];
}

interface PasswdEntry {
  readonly uid: number;
  readonly gid: number | undefined;
  readonly name: string | undefined;
  readonly home: string | undefined;
}

function findUser(text: string, passwd: string): PasswdEntry | undefined {
  const entries = passwd.split("\n").map((line) => line.split(":"));
  const entry = entries.find(([name, , uid]) => name === text || uid === text);
  if (entry) {
    const [name, , uid, gid, , home] = entry;
    return { uid: Number(uid), gid: Number(gid), name, home };
  }
  return isNumber(text) ? { uid: Number(text), gid: undefined, name: undefined, home: undefined } : undefined;
}

function findGroup(text: string, group: string): number | undefined {
  const entry = group.split("\n").find((line) => line.startsWith(`${text}:`));
  if (entry) return Number(entry.split(":")[2]);
  return isNumber(text) ? Number(text) : undefined;
}

/** The highest number means "no change" to the system. */
function isNumber(text: string): boolean {
  return /^\d{1,10}$/.test(text) && Number(text) < 0xffff_ffff;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
