// The kinds of locks, and a kubeconfig for them: of the cluster in TENURE_CONFORMANCE_KUBECONFIG, or of a sandbox.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LeaderRecord, LockView } from "@tenure/core";
import {
  ConfigMapLock,
  EndpointsLock,
  LeaseLock,
  type Lock,
  MigrationLock,
  type ObjectLockOptions,
} from "@tenure/election";
import { startSandbox } from "@tenure/sandbox";
import { load } from "js-yaml";
import { type Body, Target } from "./target.ts";

export interface LockTarget {
  readonly target: Target;
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** Path of a kubeconfig for a ServiceAccount with exactly these permissions. */
  serviceAccount(namespace: string, rules: readonly object[]): Promise<string>;
  close(): Promise<void>;
}

export async function connectForLocks(): Promise<LockTarget> {
  const folder = await mkdtemp(join(tmpdir(), "tenure-locks-"));
  const given = process.env.TENURE_CONFORMANCE_KUBECONFIG;
  const sandbox = given ? undefined : await startSandbox();
  const kubeconfig = given ?? join(folder, "admin");
  await sandbox?.writeKubeconfig(kubeconfig);
  const text = await readFile(kubeconfig, "utf8");
  const target = new Target(text, sandbox !== undefined, async () => sandbox?.close());
  let accounts = 0;
  return {
    target,
    kubeconfig,
    async serviceAccount(namespace, rules) {
      const name = `candidate-${++accounts}`;
      const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
      const must = async (path: string, body: Body): Promise<Body> => {
        const response = await target.request("POST", path, body);
        if (response.status >= 300) throw new Error(`POST ${path}: ${JSON.stringify(response.body)}`);
        return response.body;
      };
      const metadata = { name };
      await must(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata });
      await must(`${roles}/roles`, { metadata, rules });
      await must(`${roles}/rolebindings`, {
        metadata,
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
        subjects: [{ kind: "ServiceAccount", name, namespace }],
      });
      const token = await must(`/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, { spec: {} });
      const path = join(folder, `${namespace}-${name}`);
      await writeFile(path, JSON.stringify(withToken(load(text), token.status.token)), { mode: 0o600 });
      return path;
    },
    async close() {
      await target.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function withToken(config: Body, token: string): Body {
  return {
    ...config,
    users: config.users.map(({ name }: { name: string }) => ({ name, user: { token } })),
  };
}

/** The API path of one object of a lock. */
interface Place {
  readonly apiGroup: string;
  readonly resource: string;
  path(namespace: string, name: string): string;
}

export interface LockKind {
  readonly kind: string;
  readonly places: readonly Place[];
  make(options: ObjectLockOptions): Lock;
}

const leases: Place = {
  apiGroup: "coordination.k8s.io",
  resource: "leases",
  path: (namespace, name) => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`,
};
const inCore = (resource: string): Place => ({
  apiGroup: "",
  resource,
  path: (namespace, name) => `/api/v1/namespaces/${namespace}/${resource}/${name}`,
});

export const lockKinds: readonly LockKind[] = [
  { kind: "LeaseLock", places: [leases], make: (options) => new LeaseLock(options) },
  { kind: "ConfigMapLock", places: [inCore("configmaps")], make: (options) => new ConfigMapLock(options) },
  { kind: "EndpointsLock", places: [inCore("endpoints")], make: (options) => new EndpointsLock(options) },
  {
    kind: "MigrationLock",
    places: [inCore("configmaps"), leases],
    make: (options) => new MigrationLock({ from: new ConfigMapLock(options), to: new LeaseLock(options) }),
  },
];

export function record(holderIdentity: string, renewedAt = 0): LeaderRecord {
  const time = (second: number) => `2030-01-01T00:00:${String(second).padStart(2, "0")}.123456Z`;
  return {
    holderIdentity,
    leaseDurationSeconds: 15,
    acquireTime: time(0),
    renewTime: time(renewedAt),
    leaseTransitions: 3,
  };
}

/** The view in an answer. Throws if there is none. */
export function viewIn(answer: { kind: string; view?: LockView }): LockView {
  if (!answer.view) throw new Error(`the lock was not found: ${JSON.stringify(answer)}`);
  return answer.view;
}

/** Waits until the condition holds. Rejects if it does not hold in time. */
export async function eventually(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const end = performance.now() + 25_000;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`did not happen within 25 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
