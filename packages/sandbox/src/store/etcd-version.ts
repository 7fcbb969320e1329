/**
 * Which versions of etcd the store can use. The store asks etcd up to which revision a watch has sent all events. Older versions
 * answer with a revision whose events they have not sent yet, so reads would show an old state as the newest. kube-apiserver has
 * the same limits for the same reason.
 */
import type { Clock } from "@tenure/base";
import { Connection, memberStatus } from "@tenure/etcd/internal";
import { SandboxError } from "../errors.ts";

/** How long a member may take to tell its version. */
const versionMs = 3_000;
/** The first release of each minor version that answers correctly. Later minor versions all do. */
const firstGood: Readonly<Record<string, number>> = { "3.4": 31, "3.5": 13 };
const oldestGoodMinor = 6;

/** Whether watches of this version report their progress correctly. */
export function reportsProgress(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
  if (major !== 3) return major > 3;
  return minor >= oldestGoodMinor || patch >= (firstGood[`${major}.${minor}`] ?? Number.POSITIVE_INFINITY);
}

/** Rejects if a member is too old. A member that does not answer is left to the requests that follow. */
export async function checkVersions(
  endpoints: readonly string[],
  clock: Clock,
  access: Omit<ConstructorParameters<typeof Connection>[0], "endpoints">,
): Promise<void> {
  const { signal } = new AbortController();
  const answers = endpoints.map(async (endpoint) => {
    const connection = new Connection({ ...access, endpoints: [endpoint] }, clock);
    const answer = await connection.call(memberStatus, {}, signal, versionMs).catch(() => undefined);
    connection.close();
    return { endpoint, version: answer?.version };
  });
  const isOld = ({ version }: { version: string | undefined }) =>
    version !== undefined && !reportsProgress(version);
  const old = (await Promise.all(answers)).find(isOld);
  if (!old) return;
  throw new SandboxError(
    "OLD_ETCD",
    `etcd at ${old.endpoint} has version ${old.version}, which confirms changes to a watch before it has sent them: use etcd 3.4.31, 3.5.13, or 3.6 and later`,
  );
}
