/** All rights that a candidate lacks, in one sentence. A refused request names only the one that it needed. */
import type { Connection } from "../cluster/connect.ts";
import { type LockKind, lockKinds } from "../elections/lock-object.ts";
import type { ElectionFlags } from "../settings/election-options.ts";
import { isLockUrl } from "../stores/lock-url.ts";

/** Resolves with undefined if nothing is known to be missing, or if the server does not say. */
export async function missingRights(
  { lock = "lease", leaseLockName: name = "" }: ElectionFlags,
  connection: Pick<Connection, "client" | "namespace"> | undefined,
): Promise<string | undefined> {
  // A store has rights of its own, and names them in its errors.
  if (!connection || isLockUrl(lock)) return undefined;
  const { client, namespace } = connection;
  // Loaded only when access was denied.
  const [{ missingRights: review, selfSubject }, { lockRules }, { describeRules, rulesYaml }] =
    await Promise.all([
      import("../commands/doctor/access-review.ts"),
      import("../commands/doctor/participants.ts"),
      import("../commands/doctor/rules.ts"),
    ]);
  const kinds = lock.split("+").filter((kind): kind is LockKind => kind in lockKinds);
  const rules = kinds.flatMap((kind) => lockRules(kind, name));
  const missing = await review(client, selfSubject(), namespace, rules).catch(() => []);
  if (missing.length === 0) return undefined;
  const yaml = rulesYaml(missing).replaceAll(/\n\s*/g, " ");
  return `this replica may not ${describeRules(missing)} in namespace "${namespace}"; add this to a Role in namespace ${namespace} that is bound to this replica: ${yaml}`;
}
