/**
 * What admission adds to a new pod: its priority, tolerations for nodes that fail for a short time, and a volume with
 * the token of its ServiceAccount.
 */
import { keyOf, prefixOf, section } from "../objects/kind.ts";
import { priorityClass } from "../objects/kinds/cluster.ts";
import { serviceAccount } from "../objects/kinds/config.ts";
import type { Container, PodSpec } from "../objects/kinds/pod-template.ts";
import type { ApiObject, JsonObject } from "../objects/object.ts";
import { forbidden } from "../objects/status.ts";
import type { Cluster } from "./context.ts";
import { randomSuffix } from "./generate-name.ts";

type Part = Pick<Cluster, "store" | "platform">;

export function admitPod(cluster: Part, object: ApiObject): ApiObject {
  const reject = (why: string) =>
    forbidden({ group: "", resource: "pods", name: object.metadata.name ?? "" }, why);
  const account = findAccount(cluster, object, reject);
  const spec = section(object, "spec") as PodSpec;
  const placed = { ...withTolerations(spec), ...priorityOf(cluster, spec, reject) };
  return { ...object, spec: withToken(cluster, withPullSecrets(placed, account), account) };
}

type Reject = (why: string) => Error;

function findAccount({ store }: Part, object: ApiObject, reject: Reject): ApiObject {
  const { namespace = "" } = object.metadata;
  const name = String(section(object, "spec").serviceAccountName);
  const found = store.get(keyOf(serviceAccount, namespace, name));
  if (found) return found.value;
  throw reject(`error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`);
}

/** Controllers evict a pod from a node that has not been ready for this long. */
const tolerationSeconds = 300;

interface Toleration extends JsonObject {
  key?: string;
  operator?: string;
  effect?: string;
}

function withTolerations(spec: PodSpec): PodSpec {
  const tolerations = (spec.tolerations ?? []) as Toleration[];
  const added = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]
    .filter(
      (key) =>
        !tolerations.some(
          (toleration) =>
            (!toleration.key || toleration.key === key) &&
            (!toleration.effect || toleration.effect === "NoExecute"),
        ),
    )
    .map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds }));
  return { ...spec, tolerations: [...tolerations, ...added] };
}

function priorityOf({ store }: Part, spec: PodSpec, reject: Reject): JsonObject {
  const given = spec.priorityClassName as string | undefined;
  const found = given
    ? store.get(keyOf(priorityClass, "", given))
    : store.list(prefixOf(priorityClass, "")).find(({ value }) => value.globalDefault === true);
  if (given && !found) throw reject(`no PriorityClass with name ${given} was found`);
  const priority = Number(found?.value.value ?? 0);
  if (spec.priority !== undefined && spec.priority !== priority) {
    throw reject(
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${priority} from the given PriorityClass name`,
    );
  }
  const preemptionPolicy = found?.value.preemptionPolicy ?? "PreemptLowerPriority";
  const name = found?.value.metadata.name;
  return { ...(name ? { priorityClassName: name } : {}), priority, preemptionPolicy };
}

function withPullSecrets(spec: PodSpec, account: ApiObject): PodSpec {
  const { imagePullSecrets } = account;
  return imagePullSecrets && !spec.imagePullSecrets ? { ...spec, imagePullSecrets } : spec;
}

const tokenPath = "/var/run/secrets/kubernetes.io/serviceaccount";
/** A little more than the hour that clients ask for, so that they renew before the token expires. */
const tokenSeconds = 3607;

function withToken({ platform }: Part, spec: PodSpec, account: ApiObject): PodSpec {
  const mounts = spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true;
  const volumes = spec.volumes ?? [];
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  if (!mounts || containers.every(hasTokenMount)) return spec;
  const name = `kube-api-access-${randomSuffix(platform)}`;
  const withMount = (container: Container): Container =>
    hasTokenMount(container)
      ? container
      : {
          ...container,
          volumeMounts: [
            ...((container.volumeMounts ?? []) as JsonObject[]),
            { name, readOnly: true, mountPath: tokenPath },
          ],
        };
  return {
    ...spec,
    volumes: [...volumes, { name, projected: { sources: tokenSources, defaultMode: 420 } }],
    containers: (spec.containers ?? []).map(withMount),
    ...(spec.initContainers ? { initContainers: spec.initContainers.map(withMount) } : {}),
  };
}

const hasTokenMount = ({ volumeMounts }: Container) =>
  ((volumeMounts ?? []) as { mountPath?: string }[]).some(({ mountPath }) => mountPath === tokenPath);

const tokenSources = [
  { serviceAccountToken: { expirationSeconds: tokenSeconds, path: "token" } },
  { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
  {
    downwardAPI: {
      items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
    },
  },
];
